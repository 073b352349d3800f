"""One night on the local Slack: the gold set is measured and its digest is posted once, for its readers' eyes."""

from datetime import UTC, datetime, timedelta

from knowledge import gold
from knowledge.gold import Proposal
from knowledge.labels import Label
from knowledge.slots import Slot
from tests.company import Company

NIGHT = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
CHANNEL = "CGENERAL"


def add_case(company: Company, question: str, scopes: set[str], expected: Label) -> None:
    with company.database.writing() as connection:
        case = gold.propose(connection, Proposal(question, frozenset(scopes), (expected,), "import", "UANA"))
        gold.accept(connection, case, "UANA")


def posts(company: Company) -> list[str]:
    return [str(c.arguments) for c in company.slack.calls if c.method == "chat.postMessage" and c.ok]


def test_the_digest_is_posted_once_with_its_chart_and_names_only_what_its_readers_may_see(own_company: Company) -> None:
    company = own_company
    company.write("everyone/bicycles.md", "# Bicycles\n\nThe bicycle cellar is opened with the code 4711.\n")
    company.write("legal/rent.md", "# Rent\n\nThe landlord asks for saffron money.\n")
    company.sync()
    add_case(company, "How do I open the bicycle cellar?", {"workspace"}, Label("everyone", "bicycles.md"))
    add_case(company, "Which money does the landlord want?", {"channel:CLEGAL"}, Label("legal", "rent.md"))
    nightly = company.service.nightly
    for day in range(2):
        slot = Slot("nightly", NIGHT + timedelta(days=day), attempt=1, worker="test")
        nightly.measure(slot)
        nightly.post(CHANNEL, slot)
        nightly.post(CHANNEL, slot)
    digests = posts(company)
    assert len(digests) == 2
    assert "Recall@5 100%" in digests[0]
    assert "over 2 of 2 questions" in digests[0]
    assert sum(c.method == "files.completeUploadExternal" and c.ok for c in company.slack.calls) == 2
    assert "saffron" not in str(company.slack.calls)
    assert "landlord" not in str(company.slack.calls)


def test_a_night_without_gold_cases_says_so(own_company: Company) -> None:
    own_company.service.nightly.post(CHANNEL, Slot("nightly", NIGHT, attempt=1, worker="test"))
    [digest] = posts(own_company)
    assert "no gold questions yet" in digest
