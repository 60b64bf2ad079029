"""scripts/setup: installs programs, and neither starts nor enables a service.

It runs in a mount namespace of its own, where /etc and /usr/sbin are copies that go with it, and
where the package tools are stand-ins that write down what they are asked and what they find.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from tests.support.cases import may_unshare
from tests.support.dev import ROOT

POLICY = "/usr/sbin/policy-rc.d"
CLUSTER = "/etc/postgresql-common/createcluster.conf"

TOOLS = {
    "dpkg-query": "sed 's/$/ installed/' $STATE/installed",
    "apt-cache": """shift
        for name in "$@"; do printf '%s:\\n  Candidate: 1.0\\n' "$name"; done""",
    "apt-get": f"""
        case " $* " in *" install "*) ;; *) exit 0 ;; esac
        {POLICY} >/dev/null 2>&1
        echo "policy $?" >>$STATE/seen
        grep -s create_main_cluster {CLUSTER} | tail -n 1 >>$STATE/seen
        [ ! -e $STATE/refuse ] || exit 100
        for word in "$@"; do
            case $word in -* | install) ;; *) echo "$word" >>$STATE/installed ;; esac
        done
        printf '%s\\n' postgresql-common nginx-common >>$STATE/installed""",
    "systemctl": 'echo "systemctl $*" >>$STATE/asked',
    "deb-systemd-helper": 'echo "deb-systemd-helper $*" >>$STATE/asked',
    "update-rc.d": 'echo "update-rc.d $*" >>$STATE/asked',
}

SANDBOX = """
for folder in /etc /usr/sbin; do
    own=$STATE/copies/$(basename $folder)
    mkdir -p $own/changed $own/work
    mount -t overlay overlay -o lowerdir=$folder,upperdir=$own/changed,workdir=$own/work $folder
done
rm -f /usr/sbin/policy-rc.d
rm -rf /etc/postgresql-common
{before}
"$1" bench >$STATE/said 2>&1
echo $? >$STATE/code
cat /usr/sbin/policy-rc.d >$STATE/policy 2>/dev/null
cat /etc/postgresql-common/createcluster.conf >$STATE/cluster 2>/dev/null
exit 0
"""


@unittest.skipUnless(may_unshare(), "this account may not have a file system of its own")
class Setup(unittest.TestCase):
    def setUp(self):
        self.state = pathlib.Path(tempfile.mkdtemp(prefix="tenon-test-"))
        self.addCleanup(shutil.rmtree, self.state, ignore_errors=True)
        (self.state / "bin").mkdir()
        for name, body in TOOLS.items():
            tool = self.state / "bin" / name
            tool.write_text(f"#!/bin/bash\n{body}\n")
            tool.chmod(0o755)
        for name in ("installed", "seen", "asked", "said"):
            (self.state / name).write_text("")

    def set_up(self, before="true"):
        """Runs the script; its exit status."""
        path = f"{self.state / 'bin'}:{os.environ['PATH']}"
        # Upper layers of an overlay may not lie in an overlay, which a container's /tmp often is.
        script = ("mkdir $STATE/copies && mount -t tmpfs tmpfs $STATE/copies || exit 1"
                  + SANDBOX.replace("{before}", before))
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", script, "bash", ROOT / "scripts/setup"], text=True,
            capture_output=True, timeout=120,
            env={**os.environ, "PATH": path, "STATE": str(self.state)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return int(self.read("code"))

    def read(self, name):
        return (self.state / name).read_text()

    def assert_held_back(self):
        """While packages are installed no service may start and no cluster is made."""
        seen = set(self.read("seen").splitlines())
        self.assertEqual(seen, {"policy 101", "create_main_cluster = false"})

    def test_no_service_is_started_or_left_enabled(self):
        self.assertEqual(self.set_up(), 0, self.read("said"))
        self.assert_held_back()
        self.assertIn("redis-server", self.read("installed").split())
        for service in ("postgresql", "redis-server", "nginx"):
            self.assertIn(f"systemctl -q disable {service}.service", self.read("asked"))
            self.assertIn(f"deb-systemd-helper disable {service}.service", self.read("asked"))
        self.assertEqual(self.read("policy"), "")
        self.assertNotIn("made by Tenon", self.read("cluster"))

    def test_what_was_enabled_before_stays_so(self):
        (self.state / "installed").write_text("postgresql-common\nredis-server\n")
        self.assertEqual(self.set_up(), 0, self.read("said"))
        self.assertNotIn("postgresql", self.read("asked"))
        self.assertNotIn("redis", self.read("asked"))
        self.assertIn("nginx", self.read("asked"))

    def test_files_of_the_machine_are_put_back(self):
        before = (f"printf '#!/bin/sh\nexit 101\n# own\n' >{POLICY}; chmod 755 {POLICY}; "
                  f"mkdir -p $(dirname {CLUSTER}); echo '# own' >{CLUSTER}")
        for refuse in (False, True):
            if refuse:
                (self.state / "refuse").write_text("")
                (self.state / "installed").write_text("")
                shutil.rmtree(self.state / "copies")
            with self.subTest(refuse=refuse):
                self.assertEqual(self.set_up(before), int(refuse), self.read("said"))
                self.assert_held_back()
                self.assertEqual(self.read("policy"), "#!/bin/sh\nexit 101\n# own\n")
                self.assertEqual(self.read("cluster"), "# own\n")

    def test_a_failed_installation_says_so(self):
        (self.state / "refuse").write_text("")
        self.assertEqual(self.set_up(), 1)
        self.assertIn("apt-get install failed", self.read("said"))
        self.assertEqual(self.read("policy"), "")
        self.assertNotIn("made by Tenon", self.read("cluster"))


if __name__ == "__main__":
    unittest.main()
