import type { Advice } from './advice';

/** Where an error came from: which request it answers, or the task that failed. */
export type ErrorSource = 'modelList' | 'response' | 'imageSubmit' | 'taskPoll' | 'failedTask';

/** What an error is about, as far as the gateway's code and message tell. */
export type FindingKind =
	| 'quota'
	| 'balance'
	| 'keyExpired'
	| 'keyDisabled'
	| 'keyMissing'
	| 'keyInvalid'
	| 'providerKey'
	| 'address'
	| 'noImages'
	| 'noImagesHere'
	| 'noImageTasks'
	| 'wrongModelKind'
	| 'model'
	| 'moderation'
	| 'continuation'
	| 'noAccount'
	| 'outage'
	| 'path';

/** A kind of error, and how it is recognized. */
export interface FindingRow {
	kind: FindingKind;
	/** Error codes and types that stand for it, in lower case with underscores. */
	codes?: RegExp;
	/** What a message says of it, where neither code nor type is known. */
	messages?: RegExp;
	/** Statuses with which it comes; an error without a status is taken for any of them. */
	statuses: (status: number) => boolean;
	/** Where it can come; absent: everywhere. */
	sources?: readonly ErrorSource[];
	/** What happened, instead of what the status means. */
	title?: string;
	advice: Advice;
}

const any = () => true;
const refused = (status: number) => status < 500;
const denied = (status: number) => status >= 400 && status < 500;
const failed = (status: number) => status === 429 || status >= 500;
const notFound = (status: number) => status === 404 || status === 405;

const IMAGES: readonly ErrorSource[] = ['imageSubmit', 'failedTask'];
const WORK: readonly ErrorSource[] = ['response', 'imageSubmit', 'failedTask'];

/** What gateways call a key. */
const KEY = '(api_?|access_?|auth_?|virtual_?)?(key|token)';

/** A model's name as messages write it. */
const NAME = '["\'`“‘«]?[\\w.:/@-]+["\'`”’»]?';

/**
 * What error codes and messages stand for, the most telling first. The codes are those of gateways in
 * use; a family of codes is one pattern.
 */
export const FINDINGS: readonly FindingRow[] = [
	{
		kind: 'continuation',
		codes: /^(continuation_state_unavailable|previous_response_(id_)?\w+)$/,
		messages: /previous[ _]response(_id)?\b/i,
		statuses: denied,
		sources: ['response'],
		advice: [
			{
				ifOption: 'Previous Response ID',
				text: 'Remove the Previous Response ID option: the gateway cannot continue that response.',
			},
			'Send the whole conversation instead of the ID of an earlier response.',
		],
	},
	{
		kind: 'moderation',
		codes:
			/^(moderation_\w+|\w*content_(policy|filter)\w*|\w*policy_violation|prohibited_content|sensitive_words?\w*|data_inspection_failed|safety(_\w+)?|\w+_safety|image_generation_user_error)$/,
		messages:
			/safety (system|filter|polic)|content (policy|policies|filter)|usage polic|moderation|violat\w+[^.]{0,60}\bpolic|blocked (by|for) [^.]{0,30}safety|sensitive (words?|content)|敏感|违规/i,
		statuses: refused,
		sources: WORK,
		title: 'The model’s provider refused the prompt or an image',
		advice: ['Change the prompt or the image that was sent. Nothing was made.'],
	},
	{
		kind: 'keyExpired',
		codes: new RegExp(`^(${KEY}_(is_|has_)?expired|expired_${KEY})$`),
		messages: /\b(key|token) (has |is )?expired|(key|密钥|令牌).{0,4}(已)?过期/i,
		statuses: denied,
		advice: [
			'The API key has expired. Extend it in the gateway’s console, or put a new key into the credential.',
		],
	},
	{
		kind: 'quota',
		codes:
			/^(?!.*(per_(second|minute|min)|rpm|tpm))(insufficient_(api_?key_)?quota|\w*(quota|budget)_?(is_)?(exhausted|exceeded|reached|used_up)\w*|exceeded_\w*quota\w*|\w*usage_limit_\w+|\w*(billing|spend|spending|cost|credits?|daily|weekly|monthly)(_(hard|soft|usage|cost|spend))*_limit_(exceeded|reached)|\w*credits?_(exhausted|exceeded|used_up)|out_of_credits?)$/,
		messages:
			/exceeded your current quota(?!.*(per ?minute|retry in))|(quota|budget) (has been |is |was )?(exhausted|exceeded|used up)|used up (your |the |its )?(\w+ )?(quota|budget)|out of (quota|credits)|billing hard limit|(额度|配额).{0,2}(用完|用尽|耗尽|不足)/i,
		statuses: refused,
		title: 'A quota or budget is used up',
		advice: [
			'Raise or reset the quota of the key, its group or its subscription in the gateway’s console. Or use another key.',
		],
	},
	{
		kind: 'balance',
		codes:
			/^(billing_error|billing_not_active|payment_required|insufficient_(\w+_)?(balance|funds|quota)|\w*balance_(insufficient|exhausted|too_low))$/,
		messages:
			/(insufficient|low|negative|not enough) (\w+ )?(balance|funds|credits?)|balance (is |was )?(too |not )?(low|insufficient|enough|empty|used up)|余额.{0,2}不足|欠费/i,
		statuses: refused,
		title: 'The balance is used up',
		advice: ['Top up the balance in the gateway’s console. Nothing was made.'],
	},
	{
		kind: 'keyDisabled',
		codes: new RegExp(
			`^(${KEY}|user|account|organization)_(is_)?(disabled|inactive|revoked|suspended|blocked|banned|deleted|deactivated)$|^(disabled|revoked)_${KEY}$`,
		),
		messages:
			/\b(key|token|user|account) (has been |is |was )?(disabled|inactive|revoked|suspended|blocked|banned|deactivated)|(密钥|令牌|账户|账号|用户|key).{0,4}(禁用|停用|封禁)/i,
		statuses: denied,
		advice: [
			'The API key or its account is disabled. Enable it in the gateway’s console, or put another key into the credential.',
		],
	},
	{
		kind: 'keyMissing',
		codes: new RegExp(`^(${KEY}_(is_)?(required|missing)|(missing|no)_${KEY})$`),
		messages: /\b(key|token) (is )?(required|missing)|no (api )?key (was )?(provided|sent)/i,
		statuses: denied,
		advice: [
			'Fix the credential: the gateway saw no API key. Check that no proxy removes the Authorization header.',
		],
	},
	{
		kind: 'keyInvalid',
		codes: new RegExp(
			`^((invalid|incorrect|unknown|wrong|bad)_${KEY}|${KEY}_(is_)?(invalid|not_found|incorrect|unknown))$`,
		),
		messages:
			/(invalid|incorrect|unknown|wrong) (api |access )?(key|token)\b|\b(key|token) (is )?(invalid|incorrect|not found|unknown)|无效的?.{0,4}(key|令牌|密钥)/i,
		statuses: (status) => status === 401 || status === 403,
		advice: [
			'Fix the credential: the gateway does not know this API key. Copy it again from the gateway’s console or create a new one.',
		],
	},
	{
		// LiteLLM without a database, with any key but its master key.
		kind: 'keyInvalid',
		codes: /^no_db_connection$/,
		statuses: denied,
		title: 'The gateway did not accept the API key',
		advice: [
			'Fix the credential: the gateway does not know this API key. Without a database it knows only its master key.',
		],
	},
	{
		kind: 'noImageTasks',
		messages:
			/async\w* image|image tasks? (are|is) (not|disabled)|async\w* (tasks?|images?|mode) (are |is )?(not|disabled)/i,
		statuses: any,
		sources: IMAGES,
		advice: [
			'The gateway’s asynchronous image tasks are turned off. Ask its operator to turn them on; they need object storage.',
		],
	},
	{
		kind: 'wrongModelKind',
		messages:
			/requires? an? (image|text|chat|language|responses) model|not an? (image|text|chat|language) model|model[^.]{0,80}(does not|doesn’t|doesn't|can ?not|can't) (support |generate |make )(images?|text|chat|responses|the responses)|only (supported|available) (in|by|through) (the |v1)|model[^.]{0,80}not supported (in|by|with) the/i,
		statuses: refused,
		sources: WORK,
		advice: ['The model cannot do this kind of request: use another model.'],
	},
	{
		kind: 'noImages',
		codes: /^(capability_not_\w+|images?(_\w+)?_(disabled|not_(enabled|allowed|permitted)))$/,
		messages:
			/\bimages?\b[^.]{0,40}\b(not|un)[ -]?(enabled|allowed|permitted|available|authorized)|\bimages?\b[^.]{0,30}\b(is|are) disabled|(not|doesn't|doesn’t) (permit|allow|include|have|support) (\w+ )?images?|图(片|像).{0,8}(未|没有|不).{0,4}(启用|开启|允许|权限)/i,
		statuses: (status) => status === 400 || status === 401 || status === 403,
		sources: IMAGES,
		advice: [
			'The key’s group may not generate images. Enable image generation for it in the gateway’s console, or use a key of another group.',
		],
	},
	{
		kind: 'noImagesHere',
		messages: /\bimages?( \w+)? (api|endpoints?|generation|edits?)[^.]{0,20} not supported/i,
		statuses: refused,
		sources: IMAGES,
		advice: [
			'The key’s group belongs to a platform without image models. Use a key of a group that has them.',
		],
	},
	{
		kind: 'model',
		codes:
			/^(\w*model_(not_\w+|access_denied|unavailable|unknown|does_not_exist)|(unknown|unsupported|invalid|no_such|nonexistent)_model|deployment_not_?found)$/,
		messages: new RegExp(
			`\\bmodels?:? ${NAME}[^.]{0,60} (does not exist|do not exist|(not|never) (found|supported|available|allowed|permitted|exist|configured))|${NAME} is not a valid model|\\b(no such|unknown|unsupported|invalid) model\\b|model (was |is )?(not found|not available|unknown)|access to (the )?model|not (allowed|permitted|authorized) to (use|access|call) [^.]{0,30}\\bmodel|no (available )?(channel|distributor)\\w* [^.]{0,20}model|模型.{0,40}(不存在|不支持|未找到|无权)|无可用渠道`,
			'i',
		),
		statuses: any,
		advice: [
			'No account of the key’s group has this model: use another model, or ask the gateway’s operator for it.',
		],
	},
	{
		kind: 'address',
		codes:
			/^(access_denied|\w*ip(_address)?_(not_allowed|not_permitted|denied|blocked|restricted|forbidden|not_in_whitelist)|\w*ip_(restriction|whitelist)\w*)$/,
		messages:
			/\b(your|this|client|source) ip\b|\bip( address)?\b[^.]{0,60} not [^.]{0,10}(allowed|permitted|whitelist|allowlist)/i,
		statuses: (status) => status === 401 || status === 403,
		advice: [],
	},
	{
		kind: 'noAccount',
		messages:
			/no (available|compatible|usable|healthy)[^.]{0,30} (accounts?|channels?|deployments?)|accounts? (are )?exhausted/i,
		statuses: failed,
		advice: [
			'No account of the gateway can take the request at the moment. Try again later. If the error stays, ask the gateway’s operator.',
		],
	},
	{
		kind: 'outage',
		codes: /^upstream_\w*(error|failed|unavailable|timeout)$/,
		messages:
			/temporarily unavailable|upstream (service|provider|request)[^.]{0,30}(unavailable|failed|down)/i,
		statuses: (status) => status >= 500,
		advice: [
			'The model’s provider, or the gateway’s connection to it, has an outage. Try again later, or use another model.',
		],
	},
	{
		kind: 'path',
		messages:
			/^\W*(\d{3} )?(page )?not found\W*$|^cannot (get|post) \/|invalid url|(unknown|invalid|no such) (path|route|endpoint|url)|no route\b|page not found/i,
		statuses: notFound,
		sources: ['modelList', 'response', 'taskPoll'],
		title: 'The gateway does not know this address',
		advice: ['Check the Base URL of the credential: it ends in /v1, with nothing after it.'],
	},
];
