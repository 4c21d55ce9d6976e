import { STATUSES } from './matrix';
import { walkGroups } from './walk';

walkGroups((group) => group === STATUSES);
