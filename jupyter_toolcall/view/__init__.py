"""What a person sees of a session: rows for the panel, the graph, previews, pictures and text.

The dataclasses of the rows are the contract with TypeScript, which is generated from them. The
package turns session state into rows and finds what changed since the last update. It handles no
click (`jupyter`) and changes no session.
"""
