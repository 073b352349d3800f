"""Whether a question and the documents near it are in different languages."""

import pytest

from knowledge.language import asks_in_another, is_foreign

ENGLISH = (
    "Everyone gets 31 days of the leave year.",
    "Ask your lead before you book a day off.",
    "E4012: no tide data.",
)
GERMAN = ("Alle bekommen 31 Tage Urlaub im Jahr.", "Der Urlaub ist mit dem Team abzusprechen.")


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Urlaubstage habe ich?",
        "Wieviel Urlaub gibt es pro Jahr?",
        "Combien de jours de congé ai-je ?",
        "¿Cuántos días de vacaciones tengo?",
        "Quanti giorni di ferie ho?",
        "Hoeveel vakantiedagen heb ik?",
        "有給休暇は何日ありますか",
    ],
)
def test_a_question_in_another_language_over_english_documents(question: str) -> None:
    assert asks_in_another(question, ENGLISH)
    assert not asks_in_another(question, GERMAN)
    assert not asks_in_another(question, ())


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave do I get?",
        "leave days",
        "VPN setup on a new laptop",
        "comment syntax",
        "E4012?",
        "Where is Café Müller?",
    ],
)
def test_a_question_that_is_english_or_too_short_to_tell(question: str) -> None:
    assert not asks_in_another(question, ENGLISH)


@pytest.mark.parametrize("text", ["Trains – first class…", "The crew’s “tide” costs € 5", "20 °C"])
def test_dashes_quotes_and_signs_make_no_text_foreign(text: str) -> None:
    assert not is_foreign(text)


@pytest.mark.parametrize("text", ["Zürich", "Café", "¿Pago?", "Kein Hotel und Bahn", "有給"])
def test_letters_and_words_that_english_does_not_have_are_foreign(text: str) -> None:
    assert is_foreign(text)
