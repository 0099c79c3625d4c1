"""A stand-in for a model, on loopback: OpenAI's chat completions, streamed.

    model.py PORT_FILE LOG

It answers feedback-protocol Requests: the first turn reads the artifact with a tool, says a few words and
raises two items; later turns acknowledge what was decided and raise one less each. The port is written to
PORT_FILE, each request to LOG.
"""
import http.server
import json
import os
import sys


def text_of(message):
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def requests_in(messages):
    """The Requests of the conversation, oldest first."""
    found = []
    for message in messages:
        text = text_of(message)
        at = text.find('{"protocol_version"')
        if message["role"] == "user" and at >= 0:
            found.append(json.JSONDecoder().raw_decode(text[at:])[0])
    return found


def item(number):
    return {
        "id": "finding-000%d" % number,
        "aspect": "Aspect %d" % number,
        "description": "Point %d is not clear." % number,
        "recommendation": "Say more on point %d." % number,
    }


def response_to(request):
    iteration = request["iteration"]
    answer = {
        "protocol_version": "1.2",
        "iteration": iteration,
        "status": "success",
        "feedback": {
            "confidence": {"level": "high", "justification": "It was read to its end."},
            "positive_points": [{"aspect": "Length", "justification": "It is short."}],
            "areas_for_improvement": [item(n) for n in range(iteration, 3)],
            "general_summary": "Turn %d: %d bytes." % (iteration, len(request["artifact"]["content"])),
        },
    }
    if "applied_feedback" in request:
        answer["applied_feedback_ack"] = {
            "items": [
                {"id": i["id"], "processing_status": "acknowledged"}
                for i in request["applied_feedback"]["items"]
            ]
        }
    return answer


def reply_to(body):
    """What the model says: a list of deltas, and why it stops."""
    messages = body["messages"]
    asked = requests_in(messages)
    if not asked or not body.get("tools"):
        return [{"content": "Review"}], "stop"  # a title for the session
    if asked[-1]["iteration"] == 1 and messages[-1]["role"] == "user":
        call = {"filePath": os.path.join(os.getcwd(), "plan.md")}
        return [
            {"content": "I will read it first."},
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "read", "arguments": json.dumps(call)},
                    }
                ]
            },
        ], "tool_calls"
    text = json.dumps(response_to(asked[-1]))
    return [{"content": text[i : i + 40]} for i in range(0, len(text), 40)], "stop"


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write(json.dumps(body) + "\n")
        deltas, reason = reply_to(body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta in deltas + [None]:
            chunk = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": [
                    {"index": 0, "delta": delta or {}, "finish_reason": None if delta else reason}
                ],
            }
            if not delta:
                chunk["usage"] = {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as port:
        port.write("%d\n" % server.server_port)
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()
