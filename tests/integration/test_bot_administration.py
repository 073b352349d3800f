"""/reindex and App Home."""

from collections.abc import Callable

import sqlalchemy as sa
from slack_bolt import BoltResponse

from bot import wording
from knowledge import generations
from knowledge.index import OUTDATED, Indexer
from knowledge.shares import REMOVED
from knowledge.strays import remove, strays
from knowledge.tables import documents, sources
from tests.company import Company
from tests.word_embedder import WordEmbedder


def notes(company: Company, user: str) -> str:
    company.settled()
    return "\n".join(m.text for m in company.slack.ephemerals(user))


def test_an_administrator_reads_the_documents_again_and_is_told_alone(own_company: Company) -> None:
    own_company.write("everyone/parking.md", "# Parking\n\nStaff park behind the mill.\n")
    own_company.slack.command("ana", "general", "/reindex everyone")
    own_company.slack.wait_for(lambda slack: "1 added" in str([m.text for m in slack.ephemerals("ana")]))
    assert "*everyone*: 1 added, 2 unchanged" in notes(own_company, "ana")
    assert "behind the mill" in own_company.reply(own_company.ask("ben", "general", "where do staff park?")).text


def test_that_it_is_begun_is_said_before_how_it_went_however_late_the_acknowledgement(own_company: Company) -> None:
    @own_company.service.app.use
    def after_the_work(next: Callable[[], BoltResponse]) -> BoltResponse:
        own_company.finished()
        return next()

    own_company.slack.command("ana", "general", "/reindex everyone")
    first, *_, last = notes(own_company, "ana").splitlines()
    assert (first, last[:11]) == (wording.COMMAND_RECEIVED, "*everyone*:")


def test_it_works_in_a_direct_conversation(own_company: Company) -> None:
    own_company.slack.command("ana", own_company.slack.dm("ana").id, "/reindex status")
    assert "*everyone* · 2 documents" in notes(own_company, "ana")


def test_the_status_names_what_could_not_be_read(own_company: Company) -> None:
    own_company.write("everyone/leave.md", "")
    own_company.sync()
    own_company.slack.command("ana", own_company.slack.dm("ana").id, "/reindex status")
    assert "\n:warning: *everyone*: leave.md: the file is empty" in notes(own_company, "ana")


def test_the_status_says_how_far_the_index_of_another_model_is(own_company: Company) -> None:
    with own_company.database.plain() as connection:
        generations.next_to(connection, WordEmbedder("better-words"))
    own_company.slack.command("ana", own_company.slack.dm("ana").id, "/reindex status")
    assert "The index of the model better-words is being built: 0%." in notes(own_company, "ana")


def test_the_status_says_that_the_index_of_another_model_is_held(own_company: Company) -> None:
    with own_company.database.plain() as connection:
        generations.hold(connection, generations.next_to(connection, WordEmbedder("worse-words")))
    own_company.slack.command("ana", own_company.slack.dm("ana").id, "/reindex status")
    assert wording.index_held("worse-words") in notes(own_company, "ana")


def test_the_status_names_a_source_that_is_not_in_the_settings_any_more(own_company: Company) -> None:
    with own_company.database.writing() as connection:
        connection.execute(sa.insert(sources).values(name="board", kind="folder", location="", scopes=["workspace"]))
        connection.execute(sa.update(documents).where(documents.c.source == "everyone").values(source="board"))
    own_company.slack.command("ana", own_company.slack.dm("ana").id, "/reindex status")
    assert wording.source_not_in_settings("board") in notes(own_company, "ana")


def test_its_argument_is_understood_however_it_is_typed(own_company: Company) -> None:
    for typed in ("“status”", "‘status’", "`status`", "*Status*", "\u00a0status\u200b", "ＳＴＡＴＵＳ"):
        own_company.slack.command("ana", "general", f"/reindex {typed}")
        assert notes(own_company, "ana").splitlines()[-4].startswith("*everyone* · 2 documents"), typed


def test_it_tells_how_it_is_called_and_which_sources_there_are(own_company: Company) -> None:
    own_company.slack.leave("ana", "legal")
    for typed in ("help", "Help", "--help", "?"):
        own_company.slack.command("ana", "general", f"/reindex {typed}")
        said = notes(own_company, "ana").splitlines()[-1]
        assert said == wording.reindex_usage(["everyone", "guests", "partner"]), typed


def test_others_are_refused(own_company: Company) -> None:
    own_company.slack.command("ben", "general", "/reindex all")
    assert wording.ADMINS_ONLY in notes(own_company, "ben")


def test_an_administrator_learns_nothing_of_sources_they_may_not_read(own_company: Company) -> None:
    own_company.slack.leave("ana", "legal")
    own_company.slack.command("ana", "general", "/reindex legal")
    told = notes(own_company, "ana")
    assert "There is no source “legal”. There are: everyone, guests, partner" in told


def test_documents_that_cannot_be_read_are_named_with_the_reason(own_company: Company) -> None:
    own_company.write("everyone/scan.pdf", "%PDF-1.7 and then nothing")
    own_company.slack.command("ana", "general", "/reindex everyone")
    assert "scan.pdf:" in notes(own_company, "ana")


def test_an_administrator_is_told_that_newer_settings_want_a_restart(own_company: Company) -> None:
    source = next(s for s in own_company.settings.sources if s.name == "everyone")
    newer = Indexer(own_company.database, own_company.engine.embedder, own_company.settings.chunking)
    newer.sync(source.model_copy(update={"exclude": ("parking.md",)}))
    own_company.write("everyone/parking.md", "# Parking\n\nStaff park behind the mill.\n")
    own_company.slack.command("ana", "general", "/reindex everyone")
    told = notes(own_company, "ana")
    assert "*everyone*: nothing new, 2 unchanged" in told
    assert wording.sync_outdated("everyone", OUTDATED) in told
    own_company.slack.open_home("ana")
    assert OUTDATED in str(own_company.slack.wait_for(lambda slack: slack.home("ana")))

    remove(own_company.database, next(s for s in strays(own_company.database, []) if s.name == "everyone"))
    own_company.slack.command("ana", "general", "/reindex everyone")
    assert wording.sync_outdated("everyone", REMOVED) in notes(own_company, "ana")


def test_a_document_of_other_readers_that_cannot_be_read_any_more_is_counted_and_not_named(
    own_company: Company,
) -> None:
    own_company.slack.leave("ana", "legal")
    own_company.write("everyone/merger.md", "---\nscopes: [channel:CLEGAL]\n---\n# Merger\n\nWith the mill.\n")
    own_company.sync()
    own_company.write("everyone/merger.md", "")
    own_company.slack.command("ana", "general", "/reindex everyone")
    told = notes(own_company, "ana")
    own_company.slack.open_home("ana")
    home = str(own_company.slack.wait_for(lambda slack: slack.home("ana")))
    assert wording.hidden_failures(1) in told
    assert wording.hidden_failures(1) in home
    assert "merger" not in f"{told} {home}"


def test_home_shows_what_a_person_may_search_and_what_they_asked(own_company: Company) -> None:
    own_company.reply(own_company.ask("ben", "general", "how many days of annual leave?"))
    own_company.slack.open_home("ben")
    home = str(own_company.slack.wait_for(lambda slack: slack.home("ben")))
    assert "*everyone* · 2 documents" in home
    assert "how many days of annual leave?" in home
    assert "legal" not in home
    assert wording.HOME_ADMIN not in home


def test_home_lists_a_question_once_however_often_it_was_asked(own_company: Company) -> None:
    asked = [("dm", "When do invoices go out?"), *[("dm", "How much leave do I get?")] * 6]
    for place, question in [*asked, ("general", "how much leave do I get")]:
        own_company.reply(own_company.ask("ben", place, question))
    own_company.slack.open_home("ben")
    shown = str(own_company.slack.wait_for(lambda slack: slack.home("ben")))
    assert "• how much leave do I get\\n• When do invoices go out?" in shown
    assert shown.lower().count("leave do i get") == 1


def test_home_of_an_administrator_shows_failures_and_a_button(own_company: Company) -> None:
    own_company.write("everyone/scan.pdf", "%PDF-1.7 and then nothing")
    own_company.sync()
    own_company.slack.open_home("ana")
    home = own_company.slack.wait_for(lambda slack: slack.home("ana"))
    assert home is not None
    assert "scan.pdf" in str(home)
    assert "*legal*" in str(home)
    own_company.slack.click_view("ana", home["id"], "home_reindex")
    own_company.settled()
    direct = own_company.slack.state.history(own_company.slack.dm("ana").id)
    assert "*everyone*" in direct[0].text
    assert direct[0].text.splitlines()[0] in str(own_company.slack.home("ana"))


def test_home_of_a_guest_shows_their_channels_documents_only(own_company: Company) -> None:
    own_company.slack.open_home("gus")
    home = str(own_company.slack.wait_for(lambda slack: slack.home("gus")))
    assert "*guests*" in home
    assert "*everyone*" not in home
