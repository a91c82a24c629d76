"""Receives deliveries as a stranger would: webhooks are verified with the library of the Standard
Webhooks project, mail is received by aiosmtpd. Writes a JSON line for its ports, and then one for
each thing that arrives. Arguments: the secret of the webhooks."""

import asyncio
import email
import email.policy
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from aiosmtpd.smtp import SMTP
from standardwebhooks import Webhook, WebhookVerificationError

SECRET = sys.argv[1]


def say(line):
    print(json.dumps(line), flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        found = {"path": self.path, "id": headers.get("webhook-id")}
        try:
            found["event"] = Webhook(SECRET).verify(body, headers)
            status = 204
        except WebhookVerificationError as error:
            found["refused"] = str(error)
            status = 400
        # One changed byte must not verify.
        try:
            Webhook(SECRET).verify(body.replace(b"wait", b"wajt"), headers)
            found["forged"] = True
        except WebhookVerificationError:
            found["forged"] = False
        self.send_response(status)
        self.end_headers()
        say(found)

    def log_message(self, *_):
        pass


class Mailbox:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        say({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "subject": mail["subject"],
            "message_id": mail["message-id"],
            "auto": mail["auto-submitted"],
            "text": mail.get_content(),
        })
        return "250 kept"


loop = asyncio.new_event_loop()
opening = loop.create_server(lambda: SMTP(Mailbox(), loop=loop), "127.0.0.1", 0)
mailbox = loop.run_until_complete(opening)
threading.Thread(target=loop.run_forever, daemon=True).start()
server = HTTPServer(("127.0.0.1", 0), Receiver)
say({"http": server.server_port, "smtp": mailbox.sockets[0].getsockname()[1]})
server.serve_forever()
