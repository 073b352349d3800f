// Canonical emoji names to characters: the common ones; others are shown by name.

const CHARACTERS = {
  "+1": "👍", thumbsup: "👍", "-1": "👎", thumbsdown: "👎", eyes: "👀", tada: "🎉", heart: "❤️", wave: "👋",
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", rocket: "🚀", fire: "🔥", thinking_face: "🤔",
  smile: "😄", slightly_smiling_face: "🙂", joy: "😂", sob: "😭", pray: "🙏", clap: "👏", raised_hands: "🙌",
  bulb: "💡", memo: "📝", mag: "🔍", books: "📚", book: "📖", lock: "🔒", unlock: "🔓", key: "🔑", bell: "🔔",
  hourglass_flowing_sand: "⏳", hourglass: "⌛", calendar: "📅", chart_with_upwards_trend: "📈",
  chart_with_downwards_trend: "📉", bar_chart: "📊", link: "🔗", page_facing_up: "📄", file_folder: "📁",
  speech_balloon: "💬", question: "❓", exclamation: "❗", information_source: "ℹ️", arrow_right: "➡️",
  arrow_up: "⬆️", arrow_down: "⬇️", red_circle: "🔴", large_green_circle: "🟢", large_yellow_circle: "🟡",
  large_blue_circle: "🔵", white_circle: "⚪", star: "⭐", sparkles: "✨", muscle: "💪", coffee: "☕", robot_face: "🤖",
  package: "📦", zap: "⚡", bug: "🐛", wrench: "🔧", construction: "🚧", no_entry: "⛔", see_no_evil: "🙈", ok_hand: "👌",
  shrug: "🤷", point_right: "👉", pushpin: "📌", globe_with_meridians: "🌐", busts_in_silhouette: "👥", door: "🚪",
};

export const REACTIONS = [
  "+1", "-1", "eyes", "white_check_mark", "tada", "heart", "thinking_face", "joy", "pray", "fire", "rocket", "warning",
];

export function emoji(name) {
  return CHARACTERS[name.split("::")[0]] || `:${name}:`;
}

export function knows(name) {
  return name in CHARACTERS;
}
