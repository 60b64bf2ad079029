"""Short links from outside: making, following, listing, editing, deleting."""

import datetime
import unittest
import urllib.parse
import urllib.request
import uuid

from tests.support.cases import CODE, ServerCase, all_at_once
from tests.support.dev import Dev, wait_for

FIELDS = {"code", "short_url", "url", "domain", "status", "forward_query", "created_at",
          "updated_at"}


def setUpModule():
    ServerCase.server = Dev(arguments=("--port", "0")).start()


def tearDownModule():
    ServerCase.server.remove()


def new_alias(prefix="alias"):
    return f"{prefix}-{uuid.uuid4().hex}"


def in_seconds(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Create(ServerCase):
    def test_a_url_alone(self):
        link = self.make(url="https://example.com/spring?sale=1")
        self.assertEqual(set(link), FIELDS)
        self.assertEqual(link["url"], "https://example.com/spring?sale=1")
        self.assertEqual((link["status"], link["forward_query"]), (302, False))
        self.assertEqual(link["created_at"], link["updated_at"])
        self.assertRegex(link["created_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
        self.assert_leads(link["code"], link["url"])

    def test_every_field(self):
        asked = {"url": "https://example.com/all", "alias": new_alias(), "title": "Spring ☀ sale",
                 "expires_at": "2031-01-01T00:00:00Z", "status": 307, "forward_query": True}
        link = self.make(asked)
        self.assertEqual(link["code"], asked["alias"])
        for name in ("url", "title", "expires_at", "status", "forward_query"):
            self.assertEqual(link[name], asked[name])
        shown = self.client.ask("GET", f"/v1/links/{link['code']}")
        self.assertEqual((shown.status, shown.json), (200, link))

    def test_the_short_url_can_be_followed_as_it_stands(self):
        link = self.make(url="https://example.com/as-it-stands")
        self.assertTrue(link["short_url"].endswith("/" + link["code"]))
        self.assertEqual(urllib.parse.urlsplit(link["short_url"]).netloc, link["domain"])
        opener = urllib.request.build_opener(NoRedirect)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            opener.open(link["short_url"], timeout=10)
        self.addCleanup(caught.exception.close)
        self.assertEqual(caught.exception.code, 302)
        self.assertEqual(caught.exception.headers["Location"], link["url"])

    def test_codes_have_their_form_and_are_all_different(self):
        body = {"links": [{"url": "https://example.com/"}] * 500}
        codes = []
        for _ in range(4):
            answer = self.client.ask("POST", "/v1/links/bulk", body)
            self.assertEqual(answer.status, 200, answer.text)
            codes += [verdict["link"]["code"] for verdict in answer.json["results"]]
        self.assertEqual(len(codes), 2000)
        self.assertEqual(len(set(codes)), 2000)
        for code in codes:
            self.assertRegex(code, rf"^{CODE.pattern}$")
        self.assertNotEqual(codes, sorted(codes))

    def test_the_same_url_gives_a_new_code(self):
        self.assertNotEqual(self.make()["code"], self.make()["code"])

    def test_the_own_domain_may_be_named(self):
        domain = self.make()["domain"]
        self.assertEqual(self.make(domain=domain)["domain"], domain)

    def test_an_unknown_domain_is_refused(self):
        answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/",
                                                       "domain": "go.example.com"})
        self.assert_problem(answer, 422, "links.unknown_domain", pointer="/domain")

    def test_titles_of_any_script_up_to_512_characters(self):
        for title in ("", "日本語のタイトル", "<b>\"quotes\" & ends</b>", "👩‍👩‍👧‍👦" * 8, "ü" * 512,
                      "line\nbreak\ttab"):
            self.assertEqual(self.make(title=title)["title"], title)
        answer = self.client.ask("POST", "/v1/links",
                                 {"url": "https://example.com/", "title": "ü" * 513})
        self.assert_problem(answer, 400, pointer="/title")


class Aliases(ServerCase):
    def refuse(self, alias, status=422, slug="links.invalid_alias"):
        answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/",
                                                       "alias": alias})
        with self.subTest(alias=alias):
            return self.assert_problem(answer, status, slug, pointer="/alias")

    def test_kept_byte_for_byte(self):
        for alias in ("a" + uuid.uuid4().hex[:3], new_alias("Spring_SALE"), new_alias("-"),
                      new_alias("_"), new_alias().ljust(128, "x")):
            link = self.make(alias=alias, url="https://example.com/" + alias)
            self.assertEqual(link["code"], alias)
            self.assert_leads(alias, link["url"])

    def test_case_tells_two_aliases_apart(self):
        alias = new_alias("case")
        self.make(alias=alias, url="https://example.com/lower")
        self.make(alias=alias.upper(), url="https://example.com/upper")
        self.assert_leads(alias, "https://example.com/lower")
        self.assert_leads(alias.upper(), "https://example.com/upper")

    def test_foreign_characters_are_refused(self):
        for alias in ("two words", "dotted.name", "a/b", "über", "a%20b", "a+b", "a\tb", "☀", "a?b",
                      "a#b", "."):
            self.refuse(alias)

    def test_empty_and_too_long_are_refused(self):
        for alias in ("", "x" * 129, "x" * 4000):
            self.refuse(alias, status=(400, 422), slug=None)

    def test_the_form_of_a_code_is_refused_with_the_reason(self):
        for alias in ("Ab1defg", "ABCDEF7", "0zzzzzZ"):
            problem = self.refuse(alias)
            self.assertIn("7", problem["detail"])

    def test_seven_characters_without_a_codes_form_are_fine(self):
        # Without a digit, without a capital, and with a character that no code has.
        tail = uuid.uuid4().hex[:4].translate(str.maketrans("0123456789", "ghijklmnop"))
        for alias in ("Abc" + tail, "1bc" + tail, "A-1" + tail):
            self.assertEqual(self.make(alias=alias)["code"], alias)

    def test_a_taken_alias_is_a_conflict_and_stays_as_it_was(self):
        alias = new_alias()
        self.make(alias=alias, url="https://example.com/first")
        answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/second",
                                                       "alias": alias})
        self.assert_problem(answer, 409, "links.alias_taken")
        self.assert_leads(alias, "https://example.com/first")

    def test_one_of_many_at_once_gets_the_alias(self):
        alias = new_alias("race")
        clients = [self.new_client() for _ in range(16)]
        answers = all_at_once(16, lambda number: clients[number].ask("POST", "/v1/links", {
            "url": f"https://example.com/{number}", "alias": alias}))
        self.assertEqual(sorted(answer.status for answer in answers), [201] + [409] * 15)
        winner = [answer.status for answer in answers].index(201)
        self.assert_leads(alias, f"https://example.com/{winner}")

    def test_an_alias_just_found_unknown_leads_as_soon_as_it_is_made(self):
        for _ in range(5):
            alias = new_alias("fresh")
            self.assertEqual(self.visit(alias).status, 404)
            self.make(alias=alias)
            self.assert_leads(alias, "https://example.com/")


class Follow(ServerCase):
    def test_the_headers_of_a_redirect(self):
        answer = self.visit(self.make()["code"])
        self.assertEqual(answer.status, 302)
        self.assertEqual(answer.headers["location"], "https://example.com/")
        self.assertEqual(answer.headers["cache-control"], "private, no-store")
        self.assertEqual(answer.headers["x-robots-tag"], "noindex")

    def test_head_answers_the_same_without_a_body(self):
        code = self.make(url="https://example.com/head")["code"]
        answer = self.visit(code, method="HEAD")
        self.assertEqual((answer.status, answer.text), (302, ""))
        self.assertEqual(answer.headers["location"], "https://example.com/head")
        self.assertEqual((self.visit(new_alias(), method="HEAD").status, answer.text), (404, ""))

    def test_chosen_statuses(self):
        for status in (301, 302, 307, 308):
            with self.subTest(status=status):
                answer = self.visit(self.make(status=status)["code"])
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.headers["location"], "https://example.com/")
                control = answer.headers["cache-control"]
                if status in (301, 308):
                    age = dict(part.strip().partition("=")[::2] for part in control.split(","))
                    self.assertIn("private", age)
                    self.assertLessEqual(int(age["max-age"]), 300)
                if status == 302:
                    self.assertEqual(control, "private, no-store")

    def test_other_statuses_are_refused(self):
        for status in (0, 200, 300, 303, 304, 306, 309, 404):
            answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/",
                                                           "status": status})
            with self.subTest(status=status):
                self.assert_problem(answer, (400, 422), pointer="/status")

    def test_unknown_paths(self):
        for path in (new_alias(), "Zz9zzzz", "a" * 129, "with.dot", "%41bc", "a%2Fb", "..%2f",
                     "nothing/here"):
            with self.subTest(path=path):
                answer = self.visit(path)
                self.assertEqual(answer.status, 404, answer.text)
        answer = self.visit(new_alias())
        self.assertEqual(answer.headers["cache-control"], "private, no-store")
        self.assertEqual(answer.headers["x-robots-tag"], "noindex")
        self.assertNotIn("location", answer.headers)

    def test_no_parameter_replaces_the_target(self):
        code = self.make(url="https://example.com/fixed")["code"]
        for query in ("?url=https://evil.example", "?target=x", "?redirect=//evil.example", "?"):
            answer = self.visit(code, query)
            self.assertEqual((answer.status, answer.headers["location"]),
                             (302, "https://example.com/fixed"))

    def test_a_forwarded_query_is_appended_byte_for_byte(self):
        bytes_given = "x=%2F&y=+%20&a=2&&=;&%zz&q='\"!*()[]{}|~"
        for target, expected in (
                ("https://example.com/p", f"https://example.com/p?{bytes_given}"),
                ("https://example.com/p?a=1", f"https://example.com/p?a=1&{bytes_given}"),
                ("https://example.com/p?a=1#top", f"https://example.com/p?a=1&{bytes_given}#top"),
                ("https://example.com/p#top", f"https://example.com/p?{bytes_given}#top")):
            with self.subTest(target=target):
                code = self.make(url=target, forward_query=True)["code"]
                self.assertEqual(self.visit(code, "?" + bytes_given).headers["location"], expected)
                self.assertEqual(self.visit(code).headers["location"], target)
                self.assertEqual(self.visit(code, "?").headers["location"], target)

    def test_nothing_of_a_query_gets_into_another_header(self):
        code = self.make(forward_query=True)["code"]
        answer = self.visit(code, "?a=%0d%0aSet-Cookie:%20x=1")
        self.assertEqual(answer.headers["location"],
                         "https://example.com/?a=%0d%0aSet-Cookie:%20x=1")
        self.assertNotIn("set-cookie", answer.headers)


class Expiry(ServerCase):
    def test_an_expired_link_is_gone(self):
        link = self.make(alias=new_alias(), expires_at=in_seconds(1.5))
        self.assertIn(self.visit(link["code"]).status, (302, 410))
        wait_for("the expiry", lambda: self.visit(link["code"]).status == 410)
        answer = self.visit(link["code"])
        self.assertEqual(answer.headers["cache-control"], "private, no-store")
        self.assertEqual(answer.headers["x-robots-tag"], "noindex")
        self.assertNotIn("location", answer.headers)
        self.assertEqual(self.visit(link["code"], method="HEAD").status, 410)

        later = self.client.ask("PATCH", f"/v1/links/{link['code']}",
                                {"expires_at": in_seconds(3600)})
        self.assertEqual(later.status, 200, later.text)
        self.assert_leads(link["code"], link["url"])

    def test_times_come_back_in_utc(self):
        for given, shown in (("2031-06-01T12:00:00+02:00", "2031-06-01T10:00:00Z"),
                             ("2031-06-01T12:00:00.25-00:30", "2031-06-01T12:30:00.25"),
                             ("2032-02-29T00:00:00z", "2032-02-29T00:00:00Z")):
            with self.subTest(given=given):
                self.assertTrue(self.make(expires_at=given)["expires_at"].startswith(shown))

    def test_the_past_is_refused(self):
        answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/",
                                                       "expires_at": in_seconds(-1)})
        self.assert_problem(answer, 422, "links.invalid_expiry", pointer="/expires_at")

    def test_what_is_no_time_is_refused(self):
        for given in ("tomorrow", "2031-01-01", "2031-13-01T00:00:00Z", "2031-02-29T00:00:00Z",
                      "2031-01-01T00:00:00", "", 1924992000, True):
            answer = self.client.ask("POST", "/v1/links", {"url": "https://example.com/",
                                                           "expires_at": given})
            with self.subTest(given=given):
                self.assert_problem(answer, 400, pointer="/expires_at")


class Change(ServerCase):
    def edit(self, code, body, status=200):
        answer = self.client.ask("PATCH", f"/v1/links/{code}", body)
        self.assertEqual(answer.status, status, answer.text)
        return answer.json

    def test_members_left_out_stay(self):
        link = self.make(title="Before", expires_at="2031-01-01T00:00:00Z", status=307)
        edited = self.edit(link["code"], {"url": "https://example.com/after"})
        self.assertEqual(edited["url"], "https://example.com/after")
        for name in ("title", "expires_at", "status", "forward_query", "created_at", "short_url"):
            self.assertEqual(edited[name], link[name])
        self.assertGreater(edited["updated_at"], link["updated_at"])
        shown = self.client.ask("GET", f"/v1/links/{link['code']}").json
        self.assertEqual(shown, edited)

    def test_every_member(self):
        code = self.make()["code"]
        change = {"url": "https://example.com/new", "title": "New", "status": 308,
                  "expires_at": "2032-01-01T00:00:00Z", "forward_query": True}
        edited = self.edit(code, change)
        self.assertEqual({name: edited[name] for name in change}, change)
        answer = self.visit(code, "?a=1")
        self.assertEqual((answer.status, answer.headers["location"]),
                         (308, "https://example.com/new?a=1"))

    def test_null_removes_a_title_and_an_expiry(self):
        link = self.make(title="Gone soon", expires_at="2031-01-01T00:00:00Z")
        edited = self.edit(link["code"], {"title": None, "expires_at": None})
        self.assertNotIn("title", edited)
        self.assertNotIn("expires_at", edited)

    def test_an_edit_is_seen_at_once_on_every_core(self):
        code = self.make(url="https://example.com/0")["code"]
        visitors = [self.new_client(key=False) for _ in range(12)]
        for turn in range(1, 20):
            for visitor in visitors:
                visitor.ask("GET", f"/{code}")
            self.edit(code, {"url": f"https://example.com/{turn}"})
            seen = {visitor.ask("GET", f"/{code}").headers["location"] for visitor in visitors}
            self.assertEqual(seen, {f"https://example.com/{turn}"})

    def test_a_null_url_changes_nothing(self):
        link = self.make(url="https://example.com/kept")
        self.client.ask("PATCH", f"/v1/links/{link['code']}", {"url": None})
        self.assert_leads(link["code"], link["url"])

    def test_refusals_are_those_of_creation_and_change_nothing(self):
        link = self.make(title="Kept")
        path = f"/v1/links/{link['code']}"
        for body, status, slug in (({"url": "javascript:x"}, 422, "links.invalid_target"),
                                   ({"expires_at": in_seconds(-5)}, 422, "links.invalid_expiry"),
                                   ({"title": "x" * 513}, 400, None),
                                   ({"code": "other"}, 400, None), ({"alias": "other"}, 400, None)):
            with self.subTest(body=body):
                answer = self.client.ask("PATCH", path, {"forward_query": True, **body})
                self.assert_problem(answer, status, slug)
        self.assertEqual(self.client.ask("GET", path).json, link)

    def test_unknown_links(self):
        for code in (new_alias(), "Zz9zzzz", "a" * 128):
            for method, body in (("GET", None), ("PATCH", {"title": "x"}), ("DELETE", None)):
                with self.subTest(method=method, code=code):
                    answer = self.client.ask(method, f"/v1/links/{code}", body)
                    self.assert_problem(answer, 404, "links.not_found")

    def test_a_deleted_link_is_unknown_and_its_alias_free(self):
        alias = new_alias("again")
        self.make(alias=alias, url="https://example.com/first")
        self.assert_leads(alias, "https://example.com/first")
        answer = self.client.ask("DELETE", f"/v1/links/{alias}")
        self.assertEqual((answer.status, answer.text), (204, ""))
        self.assertEqual(self.visit(alias).status, 404)
        self.assert_problem(self.client.ask("GET", f"/v1/links/{alias}"), 404, "links.not_found")
        self.assert_problem(self.client.ask("DELETE", f"/v1/links/{alias}"), 404)
        self.make(alias=alias, url="https://example.com/second")
        self.assert_leads(alias, "https://example.com/second")


class Bulk(ServerCase):
    def test_every_item_gets_a_verdict_of_its_own_in_order(self):
        taken, wanted = new_alias("taken"), new_alias("wanted")
        self.make(alias=taken)
        items = [{"url": "https://example.com/a"}, {"url": "javascript:alert(1)"},
                 {"url": "https://example.com/b", "alias": taken},
                 {"url": "https://example.com/c", "alias": wanted},
                 {"url": "https://example.com/d", "alias": "healthz"},
                 {"url": "https://example.com/e", "expires_at": in_seconds(-1)},
                 {"url": "https://example.com/f", "domain": "unknown.example"},
                 {"url": "https://example.com/g", "title": "G"}]
        answer = self.client.ask("POST", "/v1/links/bulk", {"links": items})
        self.assertEqual(answer.status, 200, answer.text)
        results = answer.json["results"]
        refused = {1: "links.invalid_target", 2: "links.alias_taken", 4: "links.invalid_alias",
                   5: "links.invalid_expiry", 6: "links.unknown_domain"}
        self.assertEqual(len(results), len(items))
        for index, verdict in enumerate(results):
            with self.subTest(index=index):
                if index in refused:
                    self.assertEqual(set(verdict), {"error"})
                    self.assertEqual(verdict["error"]["type"].split("/")[-1], refused[index])
                    self.assertTrue(verdict["error"]["title"] and verdict["error"]["detail"])
                else:
                    self.assertEqual(set(verdict), {"link"})
                    self.assertEqual(verdict["link"]["url"], items[index]["url"])
                    self.assert_leads(verdict["link"]["code"], items[index]["url"])

    def test_one_alias_twice_in_one_request_is_given_once(self):
        alias = new_alias("twice")
        items = [{"url": f"https://example.com/{n}", "alias": alias} for n in range(6)]
        results = self.client.ask("POST", "/v1/links/bulk", {"links": items}).json["results"]
        made = [verdict["link"]["url"] for verdict in results if "link" in verdict]
        self.assertEqual(len(made), 1)
        self.assert_leads(alias, made[0])

    def test_a_malformed_item_is_named_by_its_place(self):
        before = self.client.ask("GET", "/v1/links?limit=1").json
        answer = self.client.ask("POST", "/v1/links/bulk", {"links": [
            {"url": "https://example.com/"}, {"alias": "no-url"}]})
        self.assert_problem(answer, 400, pointer="/links/1/url")
        answer = self.client.ask("POST", "/v1/links/bulk", {"links": [
            {"url": "https://example.com/"}, {"url": 5}]})
        self.assert_problem(answer, 400, pointer="/links/1/url")
        self.assertEqual(self.client.ask("GET", "/v1/links?limit=1").json["links"],
                         before["links"])

    def test_bounds(self):
        answer = self.client.ask("POST", "/v1/links/bulk",
                                 {"links": [{"url": "https://example.com/"}] * 501})
        self.assert_problem(answer, 400, pointer="/links")
        answer = self.client.ask("POST", "/v1/links/bulk", {"links": []})
        self.assertIn(answer.status, (200, 400))


class Lasting(ServerCase):
    def test_links_are_still_there_after_a_restart(self):
        links = [self.make(url=f"https://example.com/lasting/{n}", alias=new_alias("lasting"))
                 for n in range(3)] + [self.make(url="https://example.com/lasting/code")]
        key = self.server.key
        self.assertEqual(self.server.stop(), 0, self.server.log())
        self.server.start()
        self.assertEqual(self.server.key, key)
        self.visitor = self.new_client(key=False)
        for link in links:
            self.assert_leads(link["code"], link["url"])


if __name__ == "__main__":
    unittest.main()
