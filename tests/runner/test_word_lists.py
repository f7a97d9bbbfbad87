# SPDX-License-Identifier: Apache-2.0
"""openapi.json names the words of an enumeration as the C tables do."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPENAPI = json.loads((ROOT / "src/http/openapi.json").read_text(encoding="utf-8"))

# (C file, array of words, schema and its properties in openapi.json)
LISTS = [
    ("src/request/result.c", "status_names", "Result/status"),
    ("src/request/result.c", "reason_names", "Result/reason"),
    ("src/request/result.c", "dw_severity_words", "Result/findings/severity"),
    ("src/request/request_json.c", "dw_network_words", "Request/network"),
    ("src/request/request_json.c", "dw_pull_words", "Request/pull"),
    ("src/approvals/approval.c", "states", "Approval/state"),
    ("src/approvals/approval.c", "states", "ApprovalShort/state"),
    ("src/approvals/approval.c", "dw_remember_words", "Approval/remember"),
    ("src/approvals/approval.c", "dw_remember_words", "ApprovalShort/remember"),
    ("src/approvals/approval.c", "dw_remember_words", "Decision/remember"),
    ("src/approvals/approval.c", "dw_remember_words", "Memory/remember"),
]


def words_of(file, array):
    text = (ROOT / file).read_text(encoding="utf-8")
    body = re.search(r"\b%s\[\w*\] = \{(.*?)\};" % array, text, re.DOTALL)[1]
    return re.findall(r'"(\w+)"', body)


def enum_of(schema):
    name, *properties = schema.split("/")
    found = OPENAPI["components"]["schemas"][name]
    for key in properties:
        found = found.get("items", found)["properties"][key]
    return [word for word in found["enum"] if word is not None]


@pytest.mark.parametrize("file, array, schema", LISTS, ids=[schema for _, _, schema in LISTS])
def test_openapi_names_the_words_of_the_table(file, array, schema):
    words = words_of(file, array)
    assert len(words) > 1
    assert sorted(enum_of(schema)) == sorted(words)


def test_openapi_names_every_status_of_the_audit_record():
    source = (ROOT / "src/audit/query.c").read_text(encoding="utf-8")
    macros = dict(re.findall(r'#define (DW_AUDIT_\w+) "(\w+)"',
                             (ROOT / "src/audit/audit.h").read_text(encoding="utf-8")))
    body = re.search(r"dw_audit_status_words\[\] = \{(.*?)\};", source, re.DOTALL)[1]
    words = [macros.get(word, word.strip('"')) for word in re.findall(r'"\w+"|DW_AUDIT_\w+', body)]
    status, = (parameter for parameter in OPENAPI["paths"]["/v1/audit"]["get"]["parameters"]
               if parameter["name"] == "status")
    assert status["schema"]["enum"] == words
    assert words[:4] == words_of("src/request/result.c", "status_names")
