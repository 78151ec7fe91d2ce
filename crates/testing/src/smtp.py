"""Runs one throw-away mail server until standard input closes, so that it never outlives its test.

Arguments: the encryption (none, starttls or tls), whether SMTPUTF8 is offered (utf8 or ascii), and,
if clients must sign in, user and password. The environment has the certificate and its key in PEM.

Prints its port and a directory. What it takes is there before the client is told so: a file for each
recipient, with lines that say where it is from and so on, an empty line, the text as a mail program
would show it, and the mail as it came. The line "text" has the length of the text in bytes.

Nobody named "refused" is here, and one named "later" is told so once.
"""

import asyncio
import email
import email.policy
import itertools
import logging
import os
import ssl
import sys
import tempfile
import warnings

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    def __init__(self, directory):
        self.directory = directory
        self.numbers = itertools.count()
        self.put_off = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        name = address.rpartition("@")[0]
        if name == "refused":
            return "550 5.1.1 nobody of that name is here"
        if name == "later" and address not in self.put_off:
            self.put_off.add(address)
            return "451 4.2.1 come again"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 known here"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text = mail.get_content() if mail.get_content_type() == "text/plain" else ""
        text = text.replace("\r\n", "\n").encode()
        for recipient in envelope.rcpt_tos:
            head = {
                "from": envelope.mail_from,
                "to": recipient,
                "tls": "yes" if server.transport.get_extra_info("ssl_object") else "no",
                "user": session.auth_data or "",
                "port": session.peer[1],
                "subject": " ".join(mail.get("subject", "").splitlines()),
                "text": len(text),
            }
            lines = "".join(f"{key}: {value}\n" for key, value in head.items())
            self.put(lines.encode() + b"\n" + text + envelope.content)
        return "250 2.0.0 taken"

    def put(self, content):
        path = os.path.join(self.directory, f"{next(self.numbers):08}")
        with open(path + ".draft", "wb") as file:
            file.write(content)
        os.rename(path + ".draft", path + ".mail")


def tls_context(directory):
    paths = []
    for name in ("CERTIFICATE", "KEY"):
        paths.append(os.path.join(directory, name))
        with open(paths[-1], "w") as file:
            file.write(os.environ[f"EDDYLINE_SMTP_{name}"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*paths)
    return context


def knows(user, password):
    def check(server, session, envelope, mechanism, shown):
        right = (shown.login, shown.password) == (user.encode(), password.encode())
        return AuthResult(success=right, handled=False, auth_data=user if right else None)

    return check


async def serve(directory, encryption, addresses, user=None, password=None):
    context = None if encryption == "none" else tls_context(directory)
    handler = Handler(directory)
    loop = asyncio.get_running_loop()

    def session():
        return SMTP(
            handler,
            hostname="localhost",
            enable_SMTPUTF8=addresses == "utf8",
            tls_context=context if encryption == "starttls" else None,
            require_starttls=encryption == "starttls",
            auth_required=user is not None,
            auth_require_tls=encryption == "starttls",
            authenticator=knows(user, password) if user is not None else None,
            loop=loop,
        )

    wrapper = context if encryption == "tls" else None
    server = await loop.create_server(session, "127.0.0.1", 0, ssl=wrapper)
    print(server.sockets[0].getsockname()[1], directory, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="eddyline-smtp.") as directory:
        asyncio.run(serve(directory, *sys.argv[1:]))
