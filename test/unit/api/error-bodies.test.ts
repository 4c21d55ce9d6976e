import { impliedStatus, isErrorBody } from '../../../nodes/shared/api/errors/error-body';

/** Bodies in JSON, several on a line. */
const bodies = (text: string) => text.trim().split(/\s*[;\n]\s*/);

test.each(
	bodies(`
		{"error":{"message":"no"}}; {"error":"no"}; {"error":"no","data":[],"output":""}
		{"error":{"message":"no"},"data":null}; {"object":"error","error":"no","status":400}
		{"type":"error","error":{"type":"x"},"request_id":"r"}; {"success":false,"data":null}
		{"success":false,"message":"no"}; {"code":"API_KEY_EXPIRED","message":"已过期"}
		{"code":1001,"message":"no","data":null}; {"code":401,"message":"no"}
		{"code":500,"msg":"no"}; {"status_code":429,"message":"no"}; {"errcode":40001,"errmsg":"no"}
		{"success":false,"msg":"no"}; {"ok":false,"message":"no"}; {"errors":[{"message":"no"}]}
		{"detail":"no"}; {"detail":[{"loc":["body"],"msg":"no"}]}; [{"error":{"code":429}}]; {"error":5}
		{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"no"}
		{"status":"error","message":"no"}; {"status":"FAILED","message":"no","id":null}
		{"status":"fail","message":"no"}; {"id":"r","error":"no"}; {"code":"ok_not","message":"no"}
	`),
)('%s is an error in place of an answer', (body) => {
	expect(isErrorBody(JSON.parse(body))).toBe(true);
});

test.each(
	bodies(`
		{"id":"resp_1","object":"response","status":"completed","error":null,"output":[]}
		{"id":"resp_1","status":"failed","error":{"message":"no"},"output":[]}
		{"task_id":"t","status":"failed","http_status":400,"error":{"message":"no"}}
		{"id":7,"status":"failed","error":"no","code":400,"message":"no"}
		{"status":"completed","result":{"error":"no"}}; {"image_url":"https://x","error":"no"}
		{"object":"list","data":[{"id":"m"}]}; {"object":"list","data":[]}; []; [{"error":"no"},{"error":"no"}]
		{"code":0,"message":"ok","data":{"task_id":"t"}}; {"code":0,"message":"well"}
		{"code":200,"message":"well"}; {"code":"SUCCESS","message":"well"}; {"code":"ok","message":"x"}
		{"success":true,"message":"ok"}; {"message":"hello","status":"ok"}; {"code":"x"}
		{"code":0,"msg":"well"}; {"title":"well"}; {"ok":true,"msg":"well"}; {"errors":[]}
		{"code":null,"message":"x"}; {"code":400,"message":""}; {"choices":[{}],"error":"no"}
		{"error":"no","output":[1]}; {"error":"no","output_text":"x"}; {"error":"no","result":{"a":1}}
		{"error":"no","data":[1]}; {"status":"no error","message":"x"}; {"status":"failing","message":"x"}
		{"status":"error","detail":[]}; {"error":{}}; {"error":""}; {"error":false}; {"error":null}; {}; "error"; null; 7
	`),
)('%s is none', (body) => {
	expect(isErrorBody(JSON.parse(body))).toBe(false);
});

test.each<[number | undefined, words: string]>([
	[400, '400 invalid_request_error content_policy_violation moderation_blocked unsupported_value'],
	[400, 'image_generation_user_error validation_failed bad_request badrequest'],
	[401, '401 authentication_error invalid_api_key token_expired Unauthorized apikey tokenexpired'],
	[403, 'billing_error insufficient_balance permission_error ACCESS_DENIED not_allowed'],
	[403, 'accessdenied notallowed'],
	[404, 'not_found_error model_not_found NotFound'],
	[429, 'rate_limit_error RateLimitExceeded too_many_requests concurrency_limit throttled 429'],
	[429, 'insufficient_quota USAGE_LIMIT_EXCEEDED usagelimit toomany'],
	[500, 'server_error servererror internal 500'],
	[502, 'upstream_error bad_gateway badgateway provider_failed'],
	[503, 'server_is_overloaded overloaded_error service_unavailable no_capacity slowdown 503'],
	[504, 'timeout timed_out'],
	[529, '529'],
	[undefined, '200 399 600 4.5e2x api_error unknown -429'],
])('%s is what stands behind %s', (status, words) => {
	for (const word of words.split(' ')) {
		expect([word, impliedStatus({ code: word })]).toEqual([word, status]);
		// A type is a word; a number is a code.
		if (/^[a-z]/i.test(word)) expect([word, impliedStatus({ type: word })]).toEqual([word, status]);
	}
});

test('the code tells more than the type, if it is known', () => {
	expect(impliedStatus({ code: 'timeout', type: 'rate_limit_error' })).toBe(504);
	expect(impliedStatus({ code: 'E17', type: 'rate_limit_error' })).toBe(429);
	expect(impliedStatus({})).toBeUndefined();
});
