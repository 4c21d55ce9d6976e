export { ANSWER_FAULTS, ERROR_ANSWER_FAULTS, EXTRA_FAULTS, largeDocument } from './answers';
export { newAuthority, newCertificate, type Authority, type Certificate } from './certificates';
export { chanceOf, pick } from './chance';
export { freePort, startSniffer, startTlsFront, type Sniffer, type TlsFront } from './elsewhere';
export { FAULT_GROUPS, findFault } from './groups';
export { ANSWER_FORM_FAULTS, LIMIT_FAULTS, STREAM_FORM_FAULTS } from './forms';
export type { FaultSetting, NamedFault } from './named';
export { scripted, type FaultRule } from './script';
export {
	CONTRACT_STATUSES,
	ERROR_CONTENTS,
	REDIRECTS,
	redirectFault,
	RETRY_AFTERS,
	retryAfterFault,
	statusFault,
	type ErrorContent,
} from './statuses';
export { STREAM_FAULTS } from './streams';
export { CONNECTION_FAULTS, HEADER_FAULTS, SILENT_FAULTS } from './wire';
