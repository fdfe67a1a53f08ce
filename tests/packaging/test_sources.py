"""Reading apt's source lists."""

from provision.sources import Source, format_deb822, parse_deb822, parse_one_line, read_sources

KEY = ("Signed-By", "/usr/share/keyrings/debian.gpg")

DEB822 = """\
# The distribution.
Types: deb deb-src
URIs: http://mirror.test/debian http://second.test/debian/
Suites: bookworm bookworm-updates
# a comment inside the stanza
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb-src
URIs: http://sources.test/debian
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://off.test/debian
Suites: bookworm
Components: main
"""


def test_a_deb822_stanza_gives_one_source_for_each_uri():
    suites, components = ("bookworm", "bookworm-updates"), ("main", "contrib")
    assert parse_deb822(DEB822) == [
        Source("http://mirror.test/debian", suites, components, (KEY,)),
        Source("http://second.test/debian/", suites, components, (KEY,)),
    ]


def test_a_key_inside_a_deb822_stanza_survives_being_written_again():
    text = (
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\nComponents: main\n"
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n"
    )
    (source,) = parse_deb822(text)
    assert source.fields == (("Signed-By", "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF"),)
    assert format_deb822(source) == text


def test_one_line_sources_are_read_with_their_options_and_without_comments():
    text = """
# deb http://off.test/debian bookworm main
deb [arch=amd64,arm64 signed-by=/keys/debian.gpg] http://mirror.test/debian bookworm main contrib#x
deb-src http://mirror.test/debian bookworm main
deb	http://mirror.test/debian	bookworm-updates	main
deb http://flat.test/repository ./
"""
    assert parse_one_line(text) == [
        Source(
            "http://mirror.test/debian",
            ("bookworm",),
            ("main", "contrib"),
            (("Architectures", "amd64 arm64"), ("Signed-By", "/keys/debian.gpg")),
        ),
        Source("http://mirror.test/debian", ("bookworm-updates",), ("main",)),
        Source("http://flat.test/repository", ("./",), ()),
    ]


def test_the_source_files_of_apt_are_read_and_no_others(tmp_path):
    line = "deb http://{}.test/debian bookworm main\n"
    (tmp_path / "sources.list").write_text(line.format("first"))
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (parts / "b.list").write_text(line.format("second"))
    (parts / "c.sources").write_text(
        "Types: deb\nURIs: http://third.test/debian\nSuites: bookworm\nComponents: main\n"
    )
    (parts / "d.list.disabled").write_text(line.format("never"))
    assert [source.uri.split("/")[2] for source in read_sources(tmp_path)] == [
        "first.test",
        "second.test",
        "third.test",
    ]


def test_a_machine_without_source_lists_has_no_sources(tmp_path):
    assert read_sources(tmp_path) == ()
