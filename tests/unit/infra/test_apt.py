"""What apt names is what is unpacked, whatever the release calls it."""

from infra.dev.apt import needed

BOOKWORM = """\
'http://mirror/pool/main/j/jemalloc/libjemalloc2_5.3.0-1_amd64.deb' \
libjemalloc2_5.3.0-1_amd64.deb 275000 MD5Sum:0f56f755b01c8f7e7cdda69a9c5cb482
'http://mirror/pool/updates/main/r/redis/redis-server_7.0.15-1%7edeb12u10_amd64.deb' \
redis-server_5%3a7.0.15-1~deb12u10_amd64.deb 73908 SHA256:aa
"""
NOBLE = """\
'http://mirror/ubuntu/pool/main/liba/libaio/libaio1t64_0.3.113-6build1_amd64.deb' \
libaio1t64_0.3.113-6build1_amd64.deb 7210 SHA512:bb
'copy:/var/local/mariadb-server-core_10.11.8-0ubuntu0.24.04.1_arm64.deb' \
mariadb-server-core_1%3a10.11.8-0ubuntu0.24.04.1_arm64.deb 7900000 SHA512:cc
"""


def test_names_are_read_from_what_apt_would_fetch() -> None:
    assert needed(BOOKWORM) == ["libjemalloc2", "redis-server"]
    assert needed(NOBLE) == ["libaio1t64", "mariadb-server-core"]


def test_other_words_of_apt_are_no_packages() -> None:
    assert needed("Reading package lists...\nW: something_else_amd64.deb is odd\n") == []
