// What the chosen person sees, kept fresh over a websocket; every action goes through the control API.

export class Store extends EventTarget {
  constructor() {
    super();
    this.me = null;
    this.workspace = { people: [], channels: [], commands: [], shortcuts: [], prompts: [] };
    this.views = { home: null, modals: [] };
    this.unread = new Set();
    this.socket = null;
    this.delay = 500;
  }

  async become(person) {
    this.me = person;
    this.unread.clear();
    await this.reload();
    if (this.me === person) this.connect();
  }

  // What comes after one has become somebody else is dropped.
  async reload() {
    const me = this.me;
    const [workspace, views] = await Promise.all([this.read("workspace"), this.read("views")]);
    if (this.me !== me) return;
    this.workspace = workspace;
    this.views = views;
    this.people = new Map(workspace.people.map((person) => [person.id, person]));
    this.channels = new Map(workspace.channels.map((channel) => [channel.id, channel]));
  }

  person(id) { return this.people.get(id); }

  channel(id) {
    if (id && id === this.workspace.dm) {
      const bot = this.person(this.workspace.bot.id);
      return { id, name: bot.real_name, kind: "im", topic: "", members: [this.me, bot.id], writable: true };
    }
    return this.channels.get(id);
  }

  get names() {
    return { me: this.me, person: (id) => this.person(id), channel: (id) => this.channel(id), follow: this.follow };
  }

  async read(what, query = {}) {
    const parameters = new URLSearchParams({ as: this.me, ...query });
    const response = await fetch(`/_page/${what}?${parameters}`);
    const document = await response.json();
    if (!response.ok) throw new Error(document.error);
    return document;
  }

  async act(name, details) {
    const response = await fetch(`/_control/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(details),
    });
    const document = await response.json();
    if (!response.ok) throw new Error(document.error);
    return document;
  }

  file(id) { return `/_page/files/${encodeURIComponent(id)}?as=${encodeURIComponent(this.me)}`; }

  connect() {
    if (this.socket) { this.socket.onclose = null; this.socket.close(); }
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/_page/live?as=${encodeURIComponent(this.me)}`);
    this.socket = socket;
    let lost = this.lost;
    socket.onopen = () => {
      this.delay = 500;
      this.lost = false;
      this.dispatchEvent(new CustomEvent("connection", { detail: { up: true, again: lost } }));
    };
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = () => {
      this.lost = true;
      this.dispatchEvent(new CustomEvent("connection", { detail: { up: false } }));
      setTimeout(() => { if (this.socket === socket) this.connect(); }, this.delay);
      this.delay = Math.min(this.delay * 2, 5000);
    };
  }

  async receive(frame) {
    if (frame.type === "views") this.views = { home: frame.home, modals: frame.modals };
    if (frame.type === "workspace") await this.reload().catch(() => {});
    this.dispatchEvent(new CustomEvent(frame.type, { detail: frame }));
  }
}
