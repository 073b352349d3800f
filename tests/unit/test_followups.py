"""Which questions lean on their thread, and what they take from it."""

import pytest

from knowledge.answers import Turn
from knowledge.followups import is_bare, refers_back, stand_alone


def asked(*texts: str) -> list[Turn]:
    return [Turn("person", "U1", text) for text in texts]


HOTEL = "What is the hotel limit per night?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("And in Zurich?", "And in Zurich? (hotel limit per night)"),
        ("Zurich?", "Zurich? (hotel limit per night)"),
        ("What about contractors?", "What about contractors? (hotel limit per night)"),
        ("When does it expire?", "When does it expire? (hotel limit per night)"),
        ("Why?", "Why? (hotel limit per night)"),
        ("No, I meant Oslo", "No, I meant Oslo (hotel limit per night)"),
        ("no, for Oslo", "no, for Oslo (hotel limit per night)"),
        ("sorry, Oslo", "sorry, Oslo (hotel limit per night)"),
        ("not Zurich, Oslo", "not Zurich, Oslo (hotel limit per night)"),
        ("actually for 2027", "actually for 2027 (hotel limit per night)"),
        ("same question for Oslo", "same question for Oslo (hotel limit per night)"),
        ("Tell me more", "Tell me more (hotel limit per night)"),
        ("gilt das auch für Externe?", "gilt das auch für Externe? (hotel limit per night)"),
        ("And for help?", "And for help? (hotel limit per night)"),
        ("¿y en Oslo?", "¿y en Oslo? (hotel limit per night)"),
    ],
)
def test_a_question_that_leans_takes_the_words_before_it_along(text: str, expected: str) -> None:
    assert stand_alone(text, asked(HOTEL)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "How do I book a meeting room?",
        "What does error E4012 mean?",
        "How many days of leave do new employees get if it is a leap year in their country?",
        "parental leave policy",
        "thanks!",
        "great, that helps",
        "More vacation days for seniors?",
        "Actually, how do I reset my VPN password?",
    ],
)
def test_a_question_that_stands_alone_is_not_touched(text: str) -> None:
    assert stand_alone(text, asked(HOTEL)) == text


def test_without_a_question_before_nothing_is_added() -> None:
    assert stand_alone("And in Zurich?", []) == "And in Zurich?"
    assert stand_alone("And in Zurich?", [Turn("bot", "B", "EUR 135 a night [1].")]) == "And in Zurich?"


def test_a_chain_of_leaning_questions_keeps_its_subject() -> None:
    assert (
        stand_alone("And for a week?", asked(HOTEL, "And in Zurich?"))
        == "And for a week? (Zurich hotel limit per night)"
    )


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("What may a hotel cost in New York?", "And in Oslo?", "And in Oslo? (may hotel cost)"),
        ("What do we pay for a badge in the depot?", "And in the office?", "And in the office? (pay badge)"),
        ("What does E4012 mean?", "And what about E4019?", "And what about E4019? (mean)"),
        ("What changed in version 2.14.1?", "And 2.15.0?", "And 2.15.0? (changed version)"),
        ("How many days off after 5 years?", "And after 10?", "And after 10? (many days off)"),
        ("What was the budget of sales in 2025?", "And 2026?", "And 2026? (budget sales)"),
        ("Which limit for travel for contractors?", "And for guests?", "And for guests? (limit travel contractors)"),
        ("What do I do with a complaint?", "What is the third step?", "What is the third step? (complaint)"),
        ("What is the third step? (complaint)", "and the fifth?", "and the fifth? (step complaint)"),
        ("How long does E4012 lock a tour?", "What about 2 planners?", "What about 2 planners? (long E4012 lock tour)"),
    ],
)
def test_what_is_named_in_the_place_of_something_replaces_it(before: str, text: str, expected: str) -> None:
    assert stand_alone(text, asked(before)) == expected


def test_the_last_place_in_a_chain_holds() -> None:
    assert stand_alone("And in Oslo?", asked(HOTEL, "And in Zurich?")) == "And in Oslo? (hotel limit per night)"


def test_a_new_subject_in_between_replaces_the_old_one() -> None:
    thread = asked(HOTEL, "How do I book a meeting room?")
    assert stand_alone("And in Oslo?", thread) == "And in Oslo? (book meeting room)"


@pytest.mark.parametrize("courtesy", ["thanks!", "ok perfect", "Great, thank you so much, that helps a lot", "Danke!"])
def test_courtesies_are_no_subject(courtesy: str) -> None:
    assert stand_alone("And in Oslo?", asked(HOTEL, courtesy)) == "And in Oslo? (hotel limit per night)"


def test_thanks_are_no_subject() -> None:
    assert stand_alone("And in Oslo?", [*asked(HOTEL), Turn("person", "U2", "you and me")]).endswith(
        "(hotel limit per night)"
    )


@pytest.mark.parametrize(
    "text", ["until when?", "Since when", "how much?", "And by when?", "for how long?", "who?", "bis wann?"]
)
def test_a_question_that_names_nothing_goes_on_with_the_one_before(text: str) -> None:
    assert is_bare(text)
    assert refers_back(text)


@pytest.mark.parametrize("text", ["until when is the desk open?", "how much is parking?", "who pays?", "until"])
def test_a_question_with_a_word_of_its_own_is_not_bare(text: str) -> None:
    assert not is_bare(text)
