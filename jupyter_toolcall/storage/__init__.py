"""What is kept on disk: journals, signatures, values, and sessions in notebook files.

One kernel writes a journal, and each entry is signed with a key in the user's data directory. The
package reads files of other people, and trusts none. It runs no tool (`engine`) and draws nothing
(`view`).
"""
