"""Tools from elsewhere: JSON tool definitions (`definition_*`) and GraphQL (`graphql_*`).

`http_client` is what sends their requests, to the hosts of `allowed_hosts` alone. Nothing in
this package is imported before it is used.
"""
