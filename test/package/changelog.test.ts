import { releaseNotes } from '../../scripts/changelog';

const FILES = 'https://host.example/owner/repo/blob/v1.1.0';
const CHANGELOG = `# Changelog

## [1.2.0] - Unreleased

- Not yet.

## [1.1.0] - 2025-03-04

### Fixed

- A wait ([docs](docs/a.md#b), [site](https://site.example)).

## [1.0.1] - 2025-02-03

## [1.0.0] - 2025-01-02

- The first.

[1.0.0]: https://host.example/1.0.0
`;

const notes = (version: string) => releaseNotes(CHANGELOG, version, FILES);

test('the notes of a release are the section of its version: its links lead to the repository', () => {
	const wait = `- A wait ([docs](${FILES}/docs/a.md#b), [site](https://site.example)).`;
	expect(notes('1.1.0')).toBe(`### Fixed\n\n${wait}`);
	// Without the addresses of the headings, which stand at the end.
	expect(notes('1.0.0')).toBe('- The first.');
});

test.each([
	['that is missing', '1.3.0', 'no section "## [1.3.0]"'],
	['of which another version begins with the same', '1.1', 'no section "## [1.1]"'],
	['without a date', '1.2.0', 'no date'],
	['with nothing in it', '1.0.1', 'has no text about 1.0.1'],
])('the notes of a release are refused for a section %s', (_, version, message) => {
	expect(() => notes(version)).toThrow(message);
});
