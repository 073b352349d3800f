"""The prompts, as text files; `knowledge.prompting` reads them."""
