import { RETRY_AFTER, STATUSES } from './matrix';
import { walkGroups } from './walk';

walkGroups((group) => group !== STATUSES && group !== RETRY_AFTER);
