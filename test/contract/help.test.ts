import { FAULT_GROUPS } from '../../gateway/faults/catalogue';
import { gatewayHelp, readGatewayWishes } from '../../scripts/gateway-options';

test('npm run gateway -- --help names every fault, and --fault accepts each name', () => {
	const help = gatewayHelp();
	for (const { name } of Object.values(FAULT_GROUPS).flat()) {
		expect(help).toContain(`  ${name.replace(/^\d{3}/, 'STATUS')}`);
		expect(readGatewayWishes(['--fault', name]).fault?.name).toBe(name);
	}
});
