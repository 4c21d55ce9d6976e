import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { normalizeApiKey } from '../../nodes/shared/api/credential/api-key';
import { normalizeBaseUrl } from '../../nodes/shared/api/credential/base-url';
import { plain, read, rows, section, type Row } from './pages';

const CREDENTIAL = 'docs/credential.md';
const said = rows(read(CREDENTIAL)).filter((row) => 'What is used' in row);
const isKey = ({ 'You enter': entered }: Row) => entered!.includes('mak-');

test.each(said.map((row) => [plain(row['You enter']!), row] as const))(
	'the credential makes of %s what its page says',
	(entered, row) => {
		const normalize = isKey(row) ? normalizeApiKey : normalizeBaseUrl;
		const used = row['What is used']!;
		if (used.startsWith('refused: ')) {
			expect(() => normalize(entered)).toThrow(used.replace('refused: ', ''));
		} else {
			expect(normalize(entered)).toBe(plain(used));
		}
	},
);

test('the page covers both fields', () => {
	expect(said.filter(isKey).length).toBeGreaterThan(4);
	expect(said.filter((row) => !isKey(row)).length).toBeGreaterThan(10);
});

test.each([section('README.md', 'Credentials'), section(CREDENTIAL, 'Fields')])(
	'README and page name every field',
	(text) => {
		const named = rows(text).map((row) => plain(row.Field ?? ''));
		for (const { displayName } of new ModelAccessApi().properties) {
			expect(named).toContain(displayName);
		}
	},
);

test('the page says what the test says of an address without models', () => {
	const messages = (new ModelAccessApi().test.rules ?? []).map(
		({ properties }) => properties.message,
	);
	const details = rows(section(CREDENTIAL, 'The test')).map((row) => row['The details say']!);
	const quoted = details.filter((text) => messages.some((message) => message.startsWith(text)));
	expect(quoted).toHaveLength(1);
});
