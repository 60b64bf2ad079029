"""What schemathesis cannot know of Tenon's API."""

import schemathesis
from hypothesis import strategies

HOSTS = ("example.com", "EXAMPLE.org:8443", "bücher.example", "[2001:db8::1]", "192.0.2.1:80",
         "a-b.c.d.example", "xn--bcher-kva.example")
PARTS = strategies.text(strategies.characters(codec="utf-8", exclude_characters="\x00"),
                        max_size=24)


# Only URLs that a link may have: what else the server thinks of one is test_targets' matter.
schemathesis.openapi.format("url", strategies.builds(
    "{}://{}/{}?{}#{}".format, strategies.sampled_from(("http", "https", "HTTPS")),
    strategies.sampled_from(HOSTS), PARTS, PARTS, PARTS))


@schemathesis.hook
def before_call(context, case, kwargs):
    """A redirect is an answer to judge, not to follow: links lead away from this machine."""
    kwargs["allow_redirects"] = False
