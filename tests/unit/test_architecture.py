"""The shape of the project: import arrows, one place for settings, SQL in the engine only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "knowledge", "jobs")
COMPOSITION_ROOTS = {
    "bot/cli.py",
    "bot/service.py",
    "bot/settings.py",
    "bot/demo.py",
    "bot/nightly.py",
    "bot/digest_wording.py",
}
PEERS = {"faiss", "haystack", "langchain_core", "langchain_postgres", "llama_index", "qdrant_client", "rank_bm25"}
HEAVY = {"torch", "sentence_transformers", "anthropic", "matplotlib", "transformers"}


def modules(*packages: str) -> list[Path]:
    return sorted(f for package in packages for f in (ROOT / package).rglob("*.py"))


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def tops(tree: ast.AST) -> set[str]:
    return {module.split(".")[0] for module in imported(tree)}


def at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes that run when the module is imported: everything outside function bodies."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", modules("knowledge"), ids=name)
def test_the_engine_knows_neither_slack_nor_the_clock(file: Path) -> None:
    assert not tops(parse(file)) & {"bot", "jobs", "slack_sdk", "slack_bolt", "apscheduler", "procrastinate"}


@pytest.mark.parametrize("file", modules("jobs"), ids=name)
def test_jobs_know_the_engine_only(file: Path) -> None:
    assert not tops(parse(file)) & {"bot", "slack_sdk", "slack_bolt"}


@pytest.mark.parametrize(
    "file", [f for f in modules("bot") if name(f) not in COMPOSITION_ROOTS and "bot/commands" not in name(f)], ids=name
)
def test_only_composition_roots_of_the_bot_know_the_jobs(file: Path) -> None:
    assert "jobs" not in tops(parse(file))


@pytest.mark.parametrize("file", modules("bot", "jobs"), ids=name)
def test_sql_lives_in_the_engine(file: Path) -> None:
    allowed = {"sqlalchemy"} if _only_types(parse(file)) else set()
    assert not (tops(parse(file)) & {"sqlalchemy", "alembic", "pgvector"}) - allowed


def _only_types(tree: ast.Module) -> bool:
    """sqlalchemy may be named for the type of a connection that is only passed on: `from sqlalchemy import Connection`."""
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "sqlalchemy"]
    plain = [a for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names if a.name.startswith("sqlalchemy")]
    return not plain and all(a.name in {"Connection"} for n in uses for a in n.names)


@pytest.mark.parametrize("file", modules(*PACKAGES), ids=name)
def test_nothing_reads_the_environment_or_loads_a_model_when_imported(file: Path) -> None:
    for node in at_import(parse(file)):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"environ", "getenv"}, f"line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert not tops(node) & HEAVY, f"line {node.lineno}"


@pytest.mark.parametrize("file", modules(*PACKAGES), ids=name)
def test_the_product_imports_nothing_that_it_is_compared_with(file: Path) -> None:
    assert not tops(parse(file)) & PEERS


def test_the_top_level_holds_what_was_agreed() -> None:
    ignored = {"build", "dist", "data", "footnote.toml"}
    visible = {p.name for p in ROOT.iterdir() if not p.name.startswith(".") and not p.name.endswith(".egg-info")}
    assert visible - ignored <= {
        "pyproject.toml", "bot", "knowledge", "jobs", "tests", "docker-compose.yml", "README.md", "LICENSE",
    }  # fmt: skip


def test_every_package_is_listed_for_the_wheel() -> None:
    import tomllib

    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {name(f.parent).replace("/", ".") for f in modules(*PACKAGES) if f.name == "__init__.py"}
    assert listed == found
