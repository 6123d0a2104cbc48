"""Environments as programs meet them, by kind: the variables, and which of them hold a secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Environment:
    """Variables, and the names of those whose values are secrets."""

    variables: Mapping[str, str]
    secrets: frozenset[str] = frozenset()


ENVIRONMENTS: Mapping[str, Environment] = {
    "github": Environment(
        {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": "ann-lee",
            "GITHUB_API_URL": "https://api.github.com",
            "GITHUB_EVENT_PATH": "/home/runner/work/_temp/_github_workflow/event.json",
            "GITHUB_REPOSITORY": "ann-lee/potatoes",
            "GITHUB_REPOSITORY_OWNER_ID": "1234567890123",
            "GITHUB_SHA": "3f786850e387550fdab836ed7e6dc881de23001b",
            "GITHUB_TOKEN": "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
            "GITHUB_WORKSPACE": "/home/runner/work/potatoes/potatoes",
            "ACTIONS_ID_TOKEN_REQUEST_URL": (
                "https://pipelines.actions.githubusercontent.com/x1Y2/idtoken?api-version=2.0"
            ),
            "ACTIONS_RUNTIME_TOKEN": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJlLTEyMzQ1",
            "HOME": "/home/runner",
            "RUNNER_TEMP": "/home/runner/work/_temp",
            "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache",
            "PATH": "/opt/hostedtoolcache/Python/3.12.4/x64/bin:/usr/local/bin:/usr/bin",
        },
        frozenset({"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"}),
    ),
    "gitlab": Environment(
        {
            "CI_COMMIT_AUTHOR": "Ann Lee <ann.lee@example.org>",
            "CI_COMMIT_SHA": "3f786850e387550fdab836ed7e6dc881de23001b",
            "CI_DEPENDENCY_PROXY_USER": "gitlab-ci-token",
            "CI_JOB_TOKEN": "glcbt-64_xYz12AbC34dEf56GhI78j",
            "CI_PROJECT_DIR": "/builds/ann-lee/potatoes",
            "CI_REGISTRY_PASSWORD": "glcbt-64_xYz12AbC34dEf56GhI78j",
            "CI_REPOSITORY_URL": (
                "https://gitlab-ci-token:glcbt-64_xYz12AbC34dEf56GhI78j@gitlab.com/ann-lee/potatoes"
            ),
            "CI_SERVER_TLS_KEY_FILE": "/builds/ann-lee/potatoes.tmp/CI_SERVER_TLS_KEY_FILE",
            "DATABASE_URL": "postgres://runner:postgres@postgres:5432/test_database",
            "GITLAB_FEATURES": "audit_events,burndown_charts,code_owners",
            "GIT_AUTHOR_NAME": "Ann Lee-Potato 1985",
            "PWD": "/builds/ann-lee/potatoes",
        },
        frozenset({"CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD", "CI_REPOSITORY_URL"}),
    ),
    "travis": Environment(
        {
            "TRAVIS": "true",
            "TRAVIS_SECURE_ENV_VARS": "true",
            "TRAVIS_BUILD_DIR": "/home/travis/build/ann-lee/potatoes",
            "TRAVIS_BUILD_WEB_URL": "https://app.travis-ci.com/ann-lee/potatoes/builds/123456789",
            "TRAVIS_KEYCHAIN": "login-keychain-database",
            "encrypted_0a6446eb3ae3_key": "7f3d2c1b0a9f8e7d6c5b4a3928170615",
            "encrypted_0a6446eb3ae3_iv": "0f1e2d3c4b5a6978",
            "SSH_AUTH_SOCK": "/tmp/ssh-8Xk2LmN0pQrS/agent.2215",
        },
        frozenset({"encrypted_0a6446eb3ae3_key"}),
    ),
    "jenkins": Environment(
        {
            "BUILD_TAG": "jenkins-potatoes-main-142",
            "BUILD_URL": "https://ci.example.org/job/potatoes/142/",
            "JENKINS_HOME": "/var/jenkins_home",
            "JENKINS_NODE_COOKIE": "b7f0f1f2-8d5e-4a55-9d5c-0f1e2d3c4b5a",
            "JENKINS_SERVER_COOKIE": "durable-3b8f0a7c9d1e2f43",
            "KEYSTORE_PASS": "changeit",
            "SSH_KEY_FILE": "/var/jenkins_home/workspace/potatoes@tmp/secretFiles/1a2b/id_rsa",
            "WORKSPACE": "/var/jenkins_home/workspace/potatoes",
        },
        frozenset({"JENKINS_NODE_COOKIE", "JENKINS_SERVER_COOKIE"}),
    ),
    "conda": Environment(
        {
            "CONDA_DEFAULT_ENV": "potatoes",
            "CONDA_EXE": "/home/ann/miniforge3/bin/conda",
            "CONDA_PREFIX": "/home/ann/miniforge3/envs/potatoes",
            "CONDA_PROMPT_MODIFIER": "(potatoes) ",
            "CONDA_PYTHON_EXE": "/home/ann/miniforge3/bin/python",
            "GSETTINGS_SCHEMA_DIR": "/home/ann/miniforge3/share/glib-2.0/schemas",
            "SSL_CERT_FILE": "/home/ann/miniforge3/ssl/cacert.pem",
            "TOKENIZERS_PARALLELISM": "false-by-default",
            "XML_CATALOG_FILES": "file:///home/ann/miniforge3/etc/xml/catalog",
        }
    ),
    "desktop": Environment(
        {
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus,guid=0a1b2c3d4e5f6071",
            "DESKTOP_SESSION": "gnome-xorg",
            "GIT_ASKPASS": "/usr/share/code/resources/app/extensions/git/dist/askpass.sh",
            "GNOME_KEYRING_CONTROL": "/run/user/1000/keyring",
            "GOOGLE_APPLICATION_CREDENTIALS": "/home/ann/.config/gcloud/key-1a2b3c4d.json",
            "HOME": "/home/ann",
            "KEY_LAYOUT": "english-international",
            "LESSKEY": "/home/ann/.lesskey",
            "LS_COLORS": "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35:*.key=00;36:",
            "MAX_TOKENS": "100000000000",
            "OLDPWD": "/home/ann/projects",
            "PASSWORD_STORE_DIR": "/home/ann/.password-store",
            "PRIMARY_KEY": "customer_order_number",
            "PWD": "/home/ann/projects/potatoes",
            "SESSION_MANAGER": "local/ann:@/tmp/.ICE-unix/2215,unix/ann:/tmp/.ICE-unix/2215",
            "SMTP_AUTH": "ann.lee@example.org",
            "SSH_ASKPASS": "/usr/bin/ksshaskpass",
            "SSH_AUTH_SOCK": "/run/user/1000/keyring/ssh",
            "SSH_PUBLIC_KEY": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7x ann@potato",
            "TOKEN_ENDPOINT": "https://login.example.org/oauth2/v2.0/token",
            "USER": "ann",
            "XAUTHORITY": "/run/user/1000/gdm/Xauthority",
        }
    ),
}
