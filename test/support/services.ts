import type { Action } from '../../src/rules/rule.ts'
import type { Behaviour, Call } from './receiver.ts'

/**
 * Services as their documentation describes them: what they accept, what they refuse, and how they
 * ask for patience. Each answers a request that it accepts with its own success.
 */
export interface ServiceDouble {
  action(url: string): Action
  accepts(call: Call): Behaviour
  /** Answers that ask to wait, with the milliseconds that they mean. */
  busy: [Behaviour & object, number][]
  /** Answers after which another try is in vain, and what they say. */
  refusals: [Behaviour & object, RegExp][]
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour & object => ({
  ...{ status, body: JSON.stringify(body) },
  headers: { 'content-type': 'application/json', ...headers },
})

const check = (faults: [boolean, string][], good: Behaviour, bad: (fault: string) => Behaviour): Behaviour => {
  const fault = faults.find(([ok]) => !ok)
  return fault ? bad(fault[1]) : good
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by hand
type Body = any
const bodyOf = (call: Call): Body => JSON.parse(call.body)
const characters = (text: unknown): number => (typeof text === 'string' ? text.length : Number.NaN)

export const ROUTING_KEY = 'R0123456789abcdefghijklmnopqrstu'
const pagerduty: ServiceDouble = {
  action: url => ({
    type: 'PagerDuty',
    parameters: { routingKey: ROUTING_KEY, severity: 'critical', url: `${url}/v2/enqueue` },
  }),
  accepts(call) {
    const { routing_key, event_action, dedup_key, payload } = bodyOf(call)
    const isTrigger = event_action === 'trigger'
    return check(
      [
        [call.method === 'POST' && call.path === '/v2/enqueue', 'path'],
        [/^\w{32}$/.test(routing_key), 'routing_key'],
        [['trigger', 'acknowledge', 'resolve'].includes(event_action), 'event_action'],
        [characters(dedup_key) > 0 && characters(dedup_key) <= 255, 'dedup_key'],
        [!isTrigger || (characters(payload?.summary) > 0 && characters(payload.summary) <= 1_024), 'summary'],
        [!isTrigger || ['critical', 'error', 'warning', 'info'].includes(payload.severity), 'severity'],
        [!isTrigger || characters(payload.source) > 0, 'source'],
        [Buffer.byteLength(call.body) <= 512_000, 'size'],
      ],
      json(202, { status: 'success', message: 'Event processed', dedup_key }),
      fault => json(400, { status: 'invalid event', message: 'Event object is invalid', errors: [fault] }),
    )
  },
  busy: [[{ status: 429, body: 'Too many requests' }, 0]],
  refusals: [
    [
      json(400, { status: 'invalid event', message: 'Event object is invalid', errors: ["'routing_key' is invalid"] }),
      /^it answered 400: 'routing_key' is invalid$/,
    ],
  ],
}

export const BOT_TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
/** Text without tags; undefined if Telegram could not parse it. */
export const telegramText = (html: string): string | undefined => {
  const text = html.replace(/<(\/?(b|i|code|pre)|a href="[^"<>]*"|\/a)>/g, '')
  if (/[<>]|&(?!(lt|gt|amp|quot|#\d+);)/.test(text)) return undefined
  return text.replace(/&(#(\d+)|\w+);/g, (_, name: string, code?: string) =>
    code ? String.fromCodePoint(Number(code)) : ({ lt: '<', gt: '>', amp: '&', quot: '"' }[name] ?? '?'),
  )
}
const telegram: ServiceDouble = {
  action: url => ({ type: 'Telegram', parameters: { token: BOT_TOKEN, chat: '-1001234567890', url } }),
  accepts(call) {
    const { chat_id, text, parse_mode } = bodyOf(call)
    const plain = telegramText(text)
    const bad = (description: string) => json(400, { ok: false, error_code: 400, description })
    if (call.path !== `/bot${BOT_TOKEN}/sendMessage`) return json(404, { ok: false, description: 'Not Found' })
    return check(
      [
        [chat_id === '-1001234567890', 'Bad Request: chat not found'],
        [parse_mode === 'HTML' && plain !== undefined, "Bad Request: can't parse entities"],
        [plain?.trim() !== '', 'Bad Request: message text is empty'],
        [characters(plain) <= 4_096, 'Bad Request: message is too long'],
      ],
      json(200, { ok: true, result: { message_id: 1 } }),
      bad,
    )
  },
  busy: [
    [
      json(429, {
        ...{ ok: false, error_code: 429, description: 'Too Many Requests: retry after 35' },
        parameters: { retry_after: 35 },
      }),
      35_000,
    ],
  ],
  refusals: [
    [json(401, { ok: false, error_code: 401, description: 'Unauthorized' }), /401: Unauthorized$/],
    [
      json(403, { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' }),
      /403: Forbidden: bot was blocked by the user$/,
    ],
    [
      json(400, {
        ...{ ok: false, error_code: 400, description: 'Bad Request: group chat was upgraded to a supergroup chat' },
        parameters: { migrate_to_chat_id: -1009876543210 },
      }),
      /supergroup chat: its chat is -1009876543210 now$/,
    ],
  ],
}

const discord: ServiceDouble = {
  action: url => ({ type: 'Discord', parameters: { url: `${url}/api/webhooks/1/webhook-secret`, username: 'Sieve' } }),
  accepts(call) {
    const { embeds, allowed_mentions, username } = bodyOf(call)
    const [embed] = embeds
    return check(
      [
        [call.path === '/api/v10/webhooks/1/webhook-secret', 'path'],
        [embeds.length <= 10, 'embeds'],
        [characters(embed.title) <= 256, 'title'],
        [characters(embed.description) <= 4_096, 'description'],
        [characters(embed.title) + characters(embed.description) <= 6_000, 'all'],
        [username === undefined || (characters(username) >= 1 && characters(username) <= 80), 'username'],
        [JSON.stringify(allowed_mentions) === '{"parse":[]}', 'mentions'],
        [!Number.isNaN(Date.parse(embed.timestamp)), 'timestamp'],
      ],
      { status: 204 },
      fault => json(400, { message: 'Invalid Form Body', code: 50035, errors: { [fault]: {} } }),
    )
  },
  busy: [
    [
      json(429, { message: 'You are being rate limited.', retry_after: 1.25, global: false }, { 'retry-after': '2' }),
      2_000,
    ],
    [json(429, { message: 'You are being rate limited.', retry_after: 64.57, global: true }), 64_570],
  ],
  refusals: [
    [json(404, { message: 'Unknown Webhook', code: 10015 }), /404: Unknown Webhook$/],
    [json(401, { message: 'Invalid Webhook Token', code: 50027 }), /401: Invalid Webhook Token$/],
  ],
}

const teams: ServiceDouble = {
  action: url => ({ type: 'Teams', parameters: { url: `${url}/workflows/secret?sig=secret` } }),
  accepts(call) {
    const { type, attachments } = bodyOf(call)
    const card = attachments[0].content
    const runs: Body[] = card.body.flatMap((block: Body) => block.inlines ?? [block])
    return check(
      [
        [Buffer.byteLength(call.body) <= 28 << 10, 'size'],
        [type === 'message' && attachments[0].contentType === 'application/vnd.microsoft.card.adaptive', 'type'],
        [card.type === 'AdaptiveCard' && card.version === '1.4', 'card'],
        // A TextBlock would take Markdown.
        [runs.every(it => it.type === 'TextRun' && typeof it.text === 'string' && !it.text.includes('{{')), 'runs'],
      ],
      { status: 202 },
      fault => json(400, { error: { code: 'InvalidCard', message: fault } }),
    )
  },
  busy: [[json(429, { error: { code: 'TooManyRequests', message: 'Slow down' } }, { 'retry-after': '17' }), 17_000]],
  refusals: [
    [
      json(404, { error: { code: 'WorkflowNotFound', message: 'The workflow is gone.' } }),
      /404: The workflow is gone\.$/,
    ],
  ],
}

const ntfy: ServiceDouble = {
  action: url => ({
    type: 'ntfy',
    parameters: { url: `${url}/base/our-topic`, priority: 'high', token: 'tk_topsecret' },
  }),
  accepts(call) {
    const { topic, message, title, priority } = bodyOf(call)
    return check(
      [
        [call.method === 'POST' && call.path === '/base/', 'page not found'],
        [call.headers.authorization === 'Bearer tk_topsecret', 'unauthorized'],
        [topic === 'our-topic', 'topic'],
        [Buffer.byteLength(message) <= 4_096, 'message becomes an attachment'],
        [Buffer.byteLength(title) <= 1_024, 'title'],
        [Number.isInteger(priority) && priority >= 1 && priority <= 5, 'priority'],
      ],
      json(200, { id: 'x', event: 'message', topic }),
      fault => json(400, { code: 40_000, http: 400, error: fault }),
    )
  },
  busy: [[json(429, { code: 42_901, http: 429, error: 'limit reached: too many requests' }), 0]],
  refusals: [[json(403, { code: 40_301, http: 403, error: 'forbidden' }), /403: forbidden$/]],
}

const matrix: ServiceDouble = {
  action: url => ({ type: 'Matrix', parameters: { url, room: '!ops:x.test', token: 'syt_topsecret' } }),
  accepts(call) {
    const { msgtype, body, format, formatted_body } = bodyOf(call)
    return check(
      [
        [call.method === 'PUT', 'method'],
        [/^\/_matrix\/client\/v3\/rooms\/!ops%3Ax\.test\/send\/m\.room\.message\/[\da-f]{32}$/.test(call.path), 'path'],
        [call.headers.authorization === 'Bearer syt_topsecret', 'M_UNKNOWN_TOKEN'],
        // With what the server adds around the content.
        [Buffer.byteLength(call.body) <= 65_536 - 1_024, 'M_TOO_LARGE'],
        [msgtype === 'm.text' && typeof body === 'string', 'body'],
        [
          format === 'org.matrix.custom.html' &&
            !/[<>]/.test(formatted_body.replace(/<(\/?(strong|code|a|br)( href="[^"<>]*")?)>/g, '')),
          'html',
        ],
      ],
      json(200, { event_id: '$1' }),
      fault => json(400, { errcode: 'M_BAD_JSON', error: fault }),
    )
  },
  busy: [
    [json(429, { errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests', retry_after_ms: 2_500 }), 2_500],
    [json(429, { errcode: 'M_LIMIT_EXCEEDED', error: 'Too Many Requests' }, { 'retry-after': '3' }), 3_000],
  ],
  refusals: [
    [json(401, { errcode: 'M_UNKNOWN_TOKEN', error: 'Unrecognised access token' }), /Unrecognised access token$/],
    [json(403, { errcode: 'M_FORBIDDEN', error: 'User is not in room' }), /User is not in room$/],
  ],
}

const alertmanager: ServiceDouble = {
  action: url => ({ type: 'Alertmanager', parameters: { url: `${url}/am/`, severity: 'error', lasts: '6h' } }),
  accepts(call) {
    const alerts: Body[] = bodyOf(call)
    return check(
      [
        [call.path === '/am/api/v2/alerts' && alerts.length > 0, 'path'],
        ...alerts.flatMap((alert): [boolean, string][] => [
          [Object.entries(alert.labels).every(([name, value]) => /^[a-z]+$/.test(name) && value !== ''), 'labels'],
          [Object.values(alert.annotations).every(it => typeof it === 'string'), 'annotations'],
          [alert.startsAt === undefined || Date.parse(alert.startsAt) <= Date.parse(alert.endsAt), 'start before end'],
        ]),
      ],
      { status: 200 },
      fault => json(400, fault),
    )
  },
  busy: [[{ status: 503, headers: { 'retry-after': '5' } }, 5_000]],
  refusals: [[json(400, 'start time must be before end time'), /^it answered 400$/]],
}

export const SERVICES: Partial<Record<Action['type'], ServiceDouble>> = {
  ...{ PagerDuty: pagerduty, Telegram: telegram, Discord: discord, Teams: teams, ntfy },
  ...{ Matrix: matrix, Alertmanager: alertmanager },
}
