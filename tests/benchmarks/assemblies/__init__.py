"""What people would otherwise assemble, each as its documentation shows it, on the same model and the same Postgres.

A system has two methods: `index(pages)` takes all pages, and may be called again with the same; it returns the number of
chunks it has cut. `search(question)` gives the documents of its best chunks, best first. Texts are cut by each library's
own splitter to what the model reads at once, and every chunk carries its page's title. Where a library ships a way to
leave unchanged pages alone `index` uses it and `keeps_unchanged` is true; elsewhere everything is encoded again.

Libraries are imported when a system is made, which raises `ImportError` for one that is not installed.
"""
