"""Which questions lean on their thread, and what they take from it."""

import pytest

from knowledge.answers import Turn
from knowledge.followups import stand_alone


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
    assert stand_alone("And in Oslo?", asked(HOTEL, "And in Zurich?")) == "And in Oslo? (Zurich hotel limit per night)"


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
