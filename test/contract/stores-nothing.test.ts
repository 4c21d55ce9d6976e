import { startGateway } from '../../gateway';

test('a gateway that stores nothing says so, and knows no item and no response by its ID', async () => {
	const gateway = await startGateway({ storesNothing: true });
	const post = async (body: object) => {
		const answer = await fetch(`${gateway.baseUrl}/responses`, {
			method: 'POST',
			headers: {
				Authorization: `Bearer ${gateway.keys.active}`,
				'Content-Type': 'application/json',
			},
			body: JSON.stringify({ model: 'aurora-text-1', input: 'Hi', ...body }),
		});
		return [answer.status, (await answer.json()) as { id?: string }] as const;
	};
	const [, first] = await post({ store: true });
	expect(first).toMatchObject({ store: false });
	const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
	const user = { role: 'user', content: 'Hi' };
	expect(await post({ input: [user, thought] })).toMatchObject([
		404,
		{ error: { message: expect.stringContaining("Item with id 'rs_1' not found") as string } },
	]);
	expect(
		await post({ input: [user, { ...thought, encrypted_content: 'c2VhbGVk' }] }),
	).toMatchObject([200, {}]);
	expect(await post({ previous_response_id: first.id })).toMatchObject([
		400,
		{ error: { code: 'continuation_state_unavailable' } },
	]);
	await gateway.close();
});
