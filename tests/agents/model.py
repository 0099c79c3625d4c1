"""A stand-in for the models of real agents, on loopback: Anthropic's messages, OpenAI's responses and chat
completions, Gemini's generateContent, all streamed.

    model.py PORT_FILE LOG

A prompt names a script as [[NAME]], and the file that it is about, if any, right behind that. A script is a list of rounds; a round is what the model says at once: texts
and calls of tools. Which round is due follows from the number of tool results behind the prompt, so the server
keeps no state and serves any number of agents at a time. The port is written to PORT_FILE; for each request LOG
gets a line with the script, the round, the texts of the tool results, and what was said behind the prompt.
"""
import http.server
import itertools
import json
import os
import re
import sys
import threading

QUESTIONS = [
    {
        "question": "Which auth method?",
        "header": "Auth",
        "multiSelect": False,
        "options": [
            {"label": "OAuth", "description": "delegated"},
            {"label": "JWT", "description": "stateless"},
        ],
    },
    {
        "question": "Which platforms?",
        "header": "Platforms",
        "multiSelect": True,
        "options": [
            {"label": "Linux", "description": "x64"},
            {"label": "macOS", "description": "arm64"},
        ],
    },
]

# A call is (what, argument); CALLS has the tool that an agent gives each API.
SCRIPTS = {
    "accept": [[("shell", "touch accepted")], ["Accepted."]],
    "reject": [[("shell", "touch rejected")], ["Rejected."]],
    "stop": [[("shell", "touch stopped")], ["Not stopped."]],
    "always": [[("shell", "touch always-1")], [("shell", "touch always-2")], ["Both."]],
    "edits": [[("read", None)], [("edit", None)], [("edit-back", None)], ["Both."]],
    "edit": [[("read", None)], [("edit", None)], ["Edited."]],
    "patch": [[("edit", None)], ["Patched."]],
    "proposed": [["What I would do:\n\n<proposed_plan>\n# Plan\n\n1. Read\n2. Change\n</proposed_plan>\n"]],
    "question": [[("question", None)], ["Thanks."]],
    "plan": [[("plan-file", None)], [("plan", None)], ["Planned."]],
    "two": [[("worker", "one"), ("worker", "two")], ["Both."]],
    "one": [[("shell", "touch one")], ["One."]],
    "other": [[("shell", "touch two")], ["Two."]],
    "hello": [["Hello."]],
}

PATCH = """*** Begin Patch
*** Update File: %s
@@
-# Project
+# Edited
*** End Patch
"""

PLAN = "# Plan\n\n1. Read\n2. Change\n3. Test\n"


def escalated(command):
    return {
        "cmd": command,
        "sandbox_permissions": "require_escalated",
        "justification": "it writes a file",
        "prefix_rule": [command.split()[0]],
    }


def worker(which):
    return {
        "description": "Worker " + which,
        "prompt": "[[%s]] work" % {"one": "one", "two": "other"}[which],
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }


CALLS = {
    "messages": {
        "shell": lambda c, _: ("Bash", {"command": c, "description": "Make a file"}),
        "question": lambda _, __: ("AskUserQuestion", {"questions": QUESTIONS}),
        "plan-file": lambda _, plan: ("Write", {"file_path": plan, "content": PLAN}),
        "plan": lambda _, __: ("ExitPlanMode", {}),
        "worker": lambda which, _: ("Agent", worker(which)),
        "read": lambda path, _: ("Read", {"file_path": path}),
        "edit": lambda path, _: (
            "Edit",
            {"file_path": path, "old_string": "# Project", "new_string": "# Edited"},
        ),
        "edit-back": lambda path, _: (
            "Edit",
            {"file_path": path, "old_string": "# Edited", "new_string": "# Back again"},
        ),
    },
    "responses": {
        "shell": lambda c, _: ("exec_command", escalated(c)),
        "edit": lambda path, _: ("apply_patch", PATCH % path),
        "worker": lambda which, _: ("exec_command", escalated("touch " + which)),
        "question": lambda _, __: (
            "request_user_input",
            {
                "questions": [
                    {
                        "id": "auth",
                        "header": "Auth",
                        "question": QUESTIONS[0]["question"],
                        "options": QUESTIONS[0]["options"],
                    }
                ]
            },
        ),
    },
    "chat": {
        "shell": lambda c, _: ("bash", {"command": c, "description": "Make a file"}),
        "read": lambda path, _: ("read", {"filePath": path}),
        "edit": lambda path, _: (
            "edit",
            {"filePath": path, "oldString": "# Project", "newString": "# Edited"},
        ),
    },
    "gemini": {
        "shell": lambda c, _: ("run_shell_command", {"command": c, "description": "Make a file"}),
        "read": lambda path, _: ("read_file", {"file_path": path}),
        "edit": lambda path, _: (
            "replace",
            {
                "file_path": path,
                "old_string": "# Project",
                "new_string": "# Edited",
                "instruction": "Rename it",
            },
        ),
    },
}

USAGE = {"in": 234, "cached": 1000, "out": 56}
numbers = itertools.count(1)
lock = threading.Lock()


def unique(prefix):
    return "%s%08d" % (prefix, next(numbers))


def text_of(content):
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content)
    return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))


def round_due(turns):
    """turns: ("user", text) and ("result", text), oldest first."""
    name, file, results, said = None, "", [], []
    for kind, text in turns:
        named = re.findall(r"\[\[([a-z-]+)\]\] *(\S*)", text) if kind == "user" else []
        if named:
            (name, file), results, said = named[-1], [], []
        else:
            (results if kind == "result" else said).append(text)
    script, seen = SCRIPTS.get(name, [["Hello."]]), 0
    for number, parts in enumerate(script):
        if seen >= len(results):
            due = [p if isinstance(p, str) else (p[0], p[1] or file) for p in parts]
            return name, number, due, results, said
        seen += sum(isinstance(part, tuple) for part in parts)
    return name, len(script), ["Done."], results, said


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply({"object": "list", "data": [], "models": []})

    def do_POST(self):
        try:
            self.serve()
        except ConnectionError:  # the agent has ended
            self.close_connection = True

    def serve(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/messages"):
            self.serve_messages(body)
        elif path.endswith("/responses"):
            self.serve_responses(body)
        elif path.endswith("/chat/completions"):
            self.serve_chat(body)
        elif "enerateContent" in path:
            self.serve_gemini(body)
        elif path.endswith(("count_tokens", "countTokens")):
            self.reply({"input_tokens": 100, "totalTokens": 100})
        else:
            self.reply({"error": {"message": "not found"}}, 404)

    def reply(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value, name=None, end="\n\n"):
        head = "event: %s\n" % name if name else ""
        self.wfile.write((head + "data: " + json.dumps(value) + end).encode())

    def parts(self, api, turns, plan=""):
        """The due round: texts, and calls as (tool, arguments)."""
        name, number, parts, results, said = round_due(turns)
        with lock, open(sys.argv[2], "a", encoding="utf-8") as log:
            line = {"api": api, "script": name, "round": number, "results": results, "said": said}
            log.write(json.dumps(line) + "\n")
        return [p if isinstance(p, str) else CALLS[api][p[0]](p[1], plan) for p in parts]

    def serve_messages(self, body):
        turns = []
        for message in body.get("messages", []):
            content = message["content"]
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            for block in blocks if message["role"] == "user" else []:
                if block["type"] == "tool_result":
                    turns.append(("result", text_of(block.get("content", ""))))
            if message["role"] == "user":
                text = "\n".join(b["text"] for b in blocks if b["type"] == "text")
                turns.append(("user", text))
        plans = re.findall(r"[\w/.-]*/\.claude/plans/[\w-]+\.md", json.dumps(body))
        if body.get("tools"):
            parts = self.parts("messages", turns, plans[-1] if plans else "")
        else:
            parts = ['{"title":"A title","isNewTopic":true}']
        usage = {
            "input_tokens": USAGE["in"],
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": USAGE["cached"],
            "output_tokens": 1,
        }
        whole = {
            "id": unique("msg_"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            texts = [{"type": "text", "text": p} for p in parts if isinstance(p, str)]
            self.reply(dict(whole, content=texts, stop_reason="end_turn"))
            return
        self.stream()
        self.event({"type": "message_start", "message": whole}, "message_start")
        for i, part in enumerate(parts):
            if isinstance(part, str):
                block = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": part}
            else:
                block = {"type": "tool_use", "id": unique("toolu_"), "name": part[0], "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(part[1])}
            for kind, more in (
                ("content_block_start", {"content_block": block}),
                ("content_block_delta", {"delta": delta}),
                ("content_block_stop", {}),
            ):
                self.event(dict({"type": kind, "index": i}, **more), kind)
        calls = any(isinstance(p, tuple) for p in parts)
        end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        self.event(
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": USAGE["out"]}},
            "message_delta",
        )
        self.event({"type": "message_stop"}, "message_stop")

    def serve_responses(self, body):
        given = body.get("input", [])
        given = given if isinstance(given, list) else [{"role": "user", "content": given}]
        turns = []
        for entry in given:
            kind = entry.get("type", "message")
            if kind.endswith("_output"):
                turns.append(("result", text_of(entry.get("output", ""))))
            elif kind == "message" and entry.get("role") == "user":
                turns.append(("user", text_of(entry["content"])))
        parts = self.parts("responses", turns)
        count = itertools.count()

        def event(kind, **more):
            self.event(dict({"type": kind, "sequence_number": next(count)}, **more), kind)

        base = {
            "id": unique("resp_"),
            "object": "response",
            "created_at": 1,
            "status": "in_progress",
            "model": body.get("model"),
            "output": [],
        }
        self.stream()
        event("response.created", response=base)
        done = []
        for i, part in enumerate(parts):
            if isinstance(part, str):
                entry = {"type": "message", "id": unique("msg_"), "role": "assistant"}
                event("response.output_item.added", output_index=i, item=dict(entry, content=[]))
                event(
                    "response.output_text.delta",
                    item_id=entry["id"],
                    output_index=i,
                    content_index=0,
                    delta=part,
                )
                entry["content"] = [{"type": "output_text", "text": part, "annotations": []}]
            elif isinstance(part[1], str):
                entry = {
                    "type": "custom_tool_call",
                    "id": unique("ctc_"),
                    "call_id": unique("call_"),
                    "name": part[0],
                    "input": part[1],
                }
                event("response.output_item.added", output_index=i, item=dict(entry, input=""))
            else:
                entry = {
                    "type": "function_call",
                    "id": unique("fc_"),
                    "call_id": unique("call_"),
                    "name": part[0],
                    "arguments": json.dumps(part[1]),
                }
                event("response.output_item.added", output_index=i, item=dict(entry, arguments=""))
            entry["status"] = "completed"
            event("response.output_item.done", output_index=i, item=entry)
            done.append(entry)
        usage = {
            "input_tokens": USAGE["in"] + USAGE["cached"],
            "input_tokens_details": {"cached_tokens": USAGE["cached"]},
            "output_tokens": USAGE["out"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": USAGE["in"] + USAGE["cached"] + USAGE["out"],
        }
        event(
            "response.completed",
            response=dict(base, status="completed", output=done, usage=usage),
        )

    def serve_chat(self, body):
        messages = body.get("messages", [])
        turns = [
            ("user" if m["role"] == "user" else "result", text_of(m.get("content") or ""))
            for m in messages
            if m["role"] in ("user", "tool")
        ]
        title = messages and "title" in text_of(messages[0].get("content") or "")[:3000].lower()
        parts = self.parts("chat", turns) if body.get("tools") or not title else ["A title"]
        usage = {
            "prompt_tokens": USAGE["in"] + USAGE["cached"],
            "completion_tokens": USAGE["out"],
            "total_tokens": USAGE["in"] + USAGE["cached"] + USAGE["out"],
            "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
        }
        whole = {"id": unique("chat_"), "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            text = "".join(p for p in parts if isinstance(p, str))
            choice = {"index": 0, "message": {"role": "assistant", "content": text}}
            choice["finish_reason"] = "stop"
            self.reply(dict(whole, object="chat.completion", choices=[choice], usage=usage))
            return
        self.stream()

        def send(delta, finish=None, **more):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self.event(dict(whole, object="chat.completion.chunk", choices=[choice], **more))

        send({"role": "assistant", "content": ""})
        calls = 0
        for part in parts:
            if isinstance(part, str):
                send({"content": part})
                continue
            function = {"name": part[0], "arguments": json.dumps(part[1])}
            call = {"index": calls, "id": unique("call_"), "type": "function"}
            send({"tool_calls": [dict(call, function=function)]})
            calls += 1
        send({}, "tool_calls" if calls else "stop", usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")

    def serve_gemini(self, body):
        turns = []
        for content in body.get("contents", []):
            if content.get("role") not in ("user", "function"):
                continue
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    turns.append(("result", json.dumps(part["functionResponse"])))
                elif "text" in part:
                    turns.append(("user", part["text"]))
        settings = body.get("generationConfig", {})
        if settings.get("responseMimeType") == "application/json":
            parts = ['{"reasoning":"","next_speaker":"user","model_choice":"flash"}']
        else:
            parts = self.parts("gemini", turns)
        said = [
            {"text": p}
            if isinstance(p, str)
            else {"functionCall": {"id": unique("call-"), "name": p[0], "args": p[1]}}
            for p in parts
        ]
        usage = {
            "promptTokenCount": USAGE["in"] + USAGE["cached"],
            "candidatesTokenCount": USAGE["out"],
            "totalTokenCount": USAGE["in"] + USAGE["cached"] + USAGE["out"],
            "cachedContentTokenCount": USAGE["cached"],
        }

        def answer(some, last):
            candidate = {"content": {"role": "model", "parts": some}, "index": 0}
            if last:
                candidate["finishReason"] = "STOP"
            return {
                "candidates": [candidate],
                "usageMetadata": usage,
                "modelVersion": "stand-in",
                "responseId": unique("r"),
            }

        if "stream" not in self.path:
            self.reply(answer(said, True))
            return
        self.stream()
        for i, part in enumerate(said):
            self.event(answer([part], i == len(said) - 1), end="\r\n\r\n")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    with open(sys.argv[1] + ".new", "w", encoding="utf-8") as out:
        out.write(str(server.server_port))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


main()
