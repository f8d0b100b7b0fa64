import { countKind, duration, moment, textKind, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import type { DeliveryInfo } from '../../../delivery/ledger/records.ts'
import { refuse } from '../../../lib/errors.ts'
import { didYouMean } from '../../../lib/name-matching.ts'
import { DAY_MS } from '../../../lib/time.ts'
import type { Cancelled, RuleBook, ShownRule } from '../../rule-book.ts'
import type { ListedRule } from '../../rules.ts'
import { type CommandContext, command, misused } from '../command.ts'
import { formatCount as counted, formatTable, formatText, formatTime } from '../format.ts'
import { openRuleBook } from '../open-rule-book.ts'

export const BOOK = ['server', 'token'] as const
export const ACCOUNT = {
  account: setting(
    textKind('a name', 'NAME'),
    undefined,
    'Account of the rules in the data folder. It is needed if there are several.',
  ),
} as const

export const openBook = (
  { services, config, shutdown }: Pick<CommandContext, 'services' | 'config' | 'shutdown'>,
  account: string | undefined,
): RuleBook => openRuleBook(config, () => services.openRules(config, { shutdown }), account)

/** The rule that a word means: its number, or its whole name. */
const findRule = (rules: readonly ShownRule[], which: string): ShownRule => {
  const found = /^\d{1,15}$/.test(which) ? rules.filter(({ id }) => id === Number(which)) : []
  const named = found.length > 0 ? found : rules.filter(({ name }) => name === which)
  if (named.length === 1) return named[0]!
  if (named.length > 1)
    throw refuse(
      'many_rules',
      `${named.length} rules are called ${JSON.stringify(which)}: name one of ${idsOf(named)}.`,
    )
  const names = rules.map(({ name }) => name)
  throw refuse('unknown_rule', `There is no rule ${JSON.stringify(which)}.${didYouMean(which, names)}`)
}

export const idsOf = (rules: readonly ShownRule[]): string => rules.map(({ id }) => id).join(', ')

export const formatCancelled = ({ cancelledDeliveries: cancelled }: Cancelled): string => {
  if (cancelled === undefined) return ''
  if (cancelled === null) return ' Its queued deliveries will be cancelled.'
  return cancelled === 0 ? '' : ` ${counted(cancelled, 'queued delivery was', 'queued deliveries were')} cancelled.`
}

const MAX_LISTED_RULES = 1_000

export const rulesListCommand = command({
  name: 'rules list',
  usage: '[--account NAME] [--limit N] [--after ID]',
  summary: 'Lists the alert rules of all accounts, and how often each has fired. With --server, those of the token.',
  settings: BOOK,
  options: {
    account: setting(textKind('a name', 'NAME'), undefined, 'Account whose rules are listed.'),
    limit: setting(countKind(1, MAX_LISTED_RULES), undefined, 'Maximum number of rules to list. The default is all.'),
    after: setting(countKind(0), '0', 'Only rules with a higher number, for the next page.'),
  },
  arity: [0, 0],
  run: async context => {
    const { services, config, shutdown } = context
    const { account, limit, after } = context.options
    const page = limit === undefined && after === 0 ? undefined : { size: limit ?? MAX_LISTED_RULES, after }
    const rules =
      config.server !== undefined
        ? (await openBook(context, account).list(page)).map(serverRuleRow)
        : services.openRules(config, { shutdown }).list(account, page).map(storedRuleRow)
    return { rules, isFull: rules.length === page?.size }
  },
  format: ({ rules, isFull }) => {
    if (rules.length === 0) return 'There are no rules.'
    const text = formatRules(rules)
    return isFull ? `${text}\nThere may be more rules: --after ${rules.at(-1)!.id} lists them.` : text
  },
  json: ({ rules }) => rules.map(({ json }) => json),
})

/** A rule of either source as the table shows it. */
interface RuleRow {
  id: number
  /** Undefined where all are of the account of the token. */
  account?: string
  name: string
  network: string
  target: string
  state: string
  confirmations: string
  fired: unknown
  idle: string | undefined
  failing: readonly string[]
  json: object
}

/** A rule as a server answers it: its first warnings are the failing receivers. */
const serverRuleRow = (rule: ShownRule): RuleRow => {
  const { id, name, technology, blockchain, enabled, failing = [], warnings = [] } = rule
  const failures = warnings.slice(0, failing.length).map(warning => warning.replace(/\.$/, ''))
  const idle = rule.idle ?? undefined
  return {
    ...{ id, name, network: `${technology}/${blockchain}/${rule.network}`, target: rule.config.targetType },
    ...{
      state: stateFrom(enabled, idle, failures),
      confirmations: String(rule.maxConfirmationCount),
      fired: rule.triggerCount,
    },
    ...{ idle: idle?.replace(/\.$/, ''), failing: failures, json: rule },
  }
}

const storedRuleRow = ({ rule, account, idle, failing, fired }: ListedRule): RuleRow => {
  const { id, network, startBlock, input } = rule
  const state = stateFrom(rule.enabled, idle, failing)
  const why = state === 'paused' ? null : (idle ?? null)
  return {
    ...{ id, account, name: input.name, network, target: input.config.targetType, state },
    ...{ confirmations: String(input.maxConfirmationCount), fired, idle, failing },
    // The columns of the table, and the rule as its owner wrote it.
    json: { id, account, network, state, idle: why, failing, startBlock, fired, rule: input },
  }
}

const stateFrom = (enabled: boolean, idle: string | undefined, failing: readonly string[]) =>
  !enabled ? 'paused' : failing.length > 0 ? 'failing' : idle === undefined ? 'active' : 'idle'

const reasons = ({ id, state, idle, failing }: RuleRow): string[] =>
  state === 'paused'
    ? []
    : [
        ...failing.map(why => `Rule ${id} is failing: ${formatText(why, 500)}.`),
        ...(idle === undefined ? [] : [`Rule ${id} is idle: ${idle}.`]),
      ]

const formatRules = (rules: readonly RuleRow[]): string => {
  const withAccount = rules[0]!.account !== undefined
  const table = formatTable(
    ['ID', ...(withAccount ? ['ACCOUNT'] : []), 'NAME', 'NETWORK', 'TARGET', 'STATE', 'CONFIRMATIONS', 'FIRED'],
    rules.map(({ id, account, name, network, target, state, confirmations, fired }) => [
      ...[String(id), ...(account === undefined ? [] : [formatText(account, 40)]), formatText(name, 40)],
      ...[network, target, state, confirmations, String(fired)],
    ]),
  )
  return [table, ...rules.flatMap(reasons)].join('\n')
}

type ChangeRule = (book: RuleBook, rule: ShownRule) => Promise<Cancelled>

const changing = (name: string, done: string, summary: string, change: ChangeRule) =>
  command({
    name: `rules ${name}`,
    usage: 'ID|NAME… [--account NAME]',
    summary,
    settings: [...BOOK, 'allowTarget'],
    options: ACCOUNT,
    arity: [1, Number.POSITIVE_INFINITY],
    run: async context => {
      const { args, config, options, print } = context
      const book = openBook(context, options.account)
      const all = await book.list()
      // All are looked up before the first is changed.
      const chosen = [...new Set(args.map(which => findRule(all, which)))]
      const results: object[] = []
      for (const rule of chosen) {
        const { cancelledDeliveries } = await change(book, rule)
        const result = cancelledDeliveries === undefined ? {} : { cancelledDeliveries }
        results.push({ id: rule.id, name: rule.name, ...result })
        if (!config.json) print(`Rule ${rule.id} (${formatText(rule.name)}) is ${done}.${formatCancelled(result)}`)
      }
      if (config.json) print(JSON.stringify(results))
    },
  })

export const rulesPauseCommand = changing(
  'pause',
  'paused',
  'Pauses rules, and cancels what is queued for them.',
  (book, { id }) => book.put(id, { enabled: false }),
)

export const rulesResumeCommand = changing('resume', 'active', 'Resumes rules that were paused.', (book, { id }) =>
  book.put(id, { enabled: true }),
)

export const rulesDeleteCommand = changing(
  'delete',
  'deleted',
  'Deletes rules, and cancels what is queued for them.',
  (book, { id }) => book.remove(id),
)

export const rulesShowCommand = command({
  name: 'rules show',
  usage: 'ID|NAME [--account NAME]',
  summary: 'Prints a rule as JSON, as chainsieve rules apply takes it.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [1, 1],
  run: async context => {
    const { args, options, print } = context
    print(JSON.stringify(findRule(await openBook(context, options.account).list(), args[0]!), null, 2))
  },
})

export const rulesTestCommand = command({
  name: 'rules test',
  usage: 'ID|NAME [--document ID] [--account NAME]',
  summary: 'Sends each alert of a rule once, marked as a test. Exit code 1 if a receiver did not accept it.',
  settings: [...BOOK, 'allowTarget', 'publicUrl', 'smtp', 'mailFrom', 'deliveryTimeout', 'queryDeadline', 'limit'],
  options: {
    ...ACCOUNT,
    document: setting(
      textKind('the id of a stored document', 'ID'),
      undefined,
      'Document to send. The default is the newest that the rule finds.',
    ),
  },
  arity: [1, 1],
  run: async context => {
    const { args, options } = context
    const book = openBook(context, options.account)
    const { id } = findRule(await book.list(), args[0]!)
    return book.test(id, options.document)
  },
  format: ({ entity, deliveries }) => {
    const rows = deliveries.map(({ type, target, delivered, status, latencyMs, error }) => [
      ...[type, formatText(target, 80), delivered ? 'delivered' : 'failed'],
      ...[String(status ?? '-'), String(latencyMs), formatText(error ?? '-')],
    ])
    const table = formatTable(['CHANNEL', 'TARGET', 'RESULT', 'STATUS', 'MS', 'ERROR'], rows)
    return `Sent ${entity._type} ${entity._id}:\n${table}`
  },
  code: ({ deliveries }) => (deliveries.every(({ delivered }) => delivered) ? 0 : 1),
})

export const rulesSecretCommand = command({
  name: 'rules secret',
  usage: '--account NAME [--rotate] [--overlap TIME]',
  summary: 'Prints the secret that signs the webhooks of an account, and nothing else.',
  settings: [],
  options: {
    account: setting(textKind('a name', 'NAME'), undefined, 'Account of the secret.'),
    rotate: setting(toggle, 'false', 'Creates a new secret, and prints it.'),
    overlap: setting(
      duration,
      undefined,
      'How long the old secret also signs webhooks after --rotate. The default is 24h.',
    ),
  },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, shutdown, options: { account, rotate, overlap }, print }) => {
    if (account === undefined) throw misused('Whose secret? Add --account NAME.')
    if (overlap !== undefined && !rotate) throw misused('--overlap belongs to --rotate.')
    const rules = services.openRules(config, { shutdown })
    print(rules.secret(account, rotate ? { overlapMs: overlap ?? DAY_MS } : undefined))
  },
})

export const rulesDeliveriesCommand = command({
  name: 'rules deliveries',
  usage: '[--dead] [--rule ID] [--alert ID] [--limit N]',
  summary: 'Lists deliveries that were sent, wait or are dead, newest first.',
  settings: [],
  options: {
    dead: setting(toggle, 'false', 'Only dead deliveries.'),
    rule: setting(countKind(1), undefined, 'Only deliveries of the rule with that number.'),
    alert: setting(textKind('the id of an alert', 'ID'), undefined, 'Only deliveries of that alert.'),
    limit: setting(countKind(1, 100_000), '50', 'Maximum number of deliveries to list.'),
  },
  arity: [0, 0],
  run: async ({ services, config, shutdown, options: { limit, ...filter } }) => {
    const found = services.openRules(config, { shutdown }).deliveries({ ...filter, limit: limit + 1 })
    return { deliveries: found.slice(0, limit), hasOlder: found.length > limit }
  },
  format: ({ deliveries, hasOlder }) => {
    if (deliveries.length === 0) return 'There are no such deliveries.'
    const text = formatDeliveryTable(deliveries)
    return hasOlder ? `${text}\nThere are older deliveries: --limit N lists more.` : text
  },
  json: ({ deliveries }) => deliveries.map(deliveryJson),
})

const formatDeliveryTable = (deliveries: DeliveryInfo[]): string =>
  formatTable(
    ['ID', 'WHEN', 'RULE', 'ALERT', 'TYPE', 'CHANNEL', 'TARGET', 'STATE', 'TRIES', 'NEXT TRY', 'LAST'],
    deliveries.map(it => [
      String(it.id),
      formatTime(it.createdAt),
      String(it.rule),
      it.alert,
      it.type,
      it.channel,
      formatText(it.target, 80),
      it.state,
      String(it.tries),
      formatTime(it.nextAt),
      lastResult(it),
    ]),
  )

const lastResult = ({ lastStatus, lastError }: DeliveryInfo): string =>
  formatText(lastError ?? (lastStatus === null ? '-' : String(lastStatus)))

/** Times as elsewhere in answers. */
const deliveryJson = ({ createdAt, deliveredAt, nextAt, silence, ...delivery }: DeliveryInfo) => ({
  ...delivery,
  ...(silence !== null && { silence }),
  createdAt: isoTimeOf(createdAt),
  deliveredAt: isoTimeOf(deliveredAt),
  nextAt: isoTimeOf(nextAt),
})

const isoTimeOf = (at: number | null) => (at === null ? null : new Date(at).toISOString())

export const rulesRedeliverCommand = command({
  name: 'rules redeliver',
  usage: '[DELIVERY-ID…] [--rule ID] [--alert ID] [--dead] [--after TIME] [--before TIME]',
  summary: 'Sends deliveries again: those that meet all given conditions, of which at least one is required.',
  settings: [],
  options: {
    rule: setting(countKind(1), undefined, 'Deliveries of the rule with that number.'),
    alert: setting(textKind('the id of an alert', 'ID'), undefined, 'Deliveries of that alert.'),
    dead: setting(toggle, 'false', 'Dead deliveries.'),
    after: setting(moment, undefined, 'Deliveries created at that time or later, such as 2024-05-17T12:00:00Z.'),
    before: setting(moment, undefined, 'Deliveries created at that time or earlier.'),
  },
  audited: true,
  arity: [0, Number.POSITIVE_INFINITY],
  run: async ({ services, config, shutdown, args, options: { rule, alert, dead, after, before } }) => {
    const ids = args.map(deliveryNumber)
    if (ids.length === 0 && !dead && [rule, alert, after, before].every(it => it === undefined))
      throw misused('Which deliveries? Name them, or add --rule, --alert, --dead, --after or --before.')
    if (after !== undefined && before !== undefined && before < after)
      throw misused('--before must not be before --after.')
    const rules = services.openRules(config, { shutdown })
    const filter = { rule, alert, dead, from: after, to: before }
    const left: number[] = []
    let redelivered = ids.length === 0 ? rules.redeliver(filter) : 0
    for (const delivery of new Set(ids)) {
      const count = rules.redeliver({ ...filter, delivery })
      if (count === 0) left.push(delivery)
      redelivered += count
    }
    return {
      redelivered,
      left,
      by: rules.serving() ? 'by the running server' : 'when chainsieve serve runs the next time',
    }
  },
  format: ({ redelivered, left, by }, { args }) =>
    [
      ...left.map(id => `Delivery ${id} is not sent again: ${UNFIT}.`),
      ...(args.length === 0 && redelivered === 0 ? [`Nothing is sent again: ${UNFIT}.`] : []),
      ...(redelivered > 0 ? [`${counted(redelivered, 'delivery', 'deliveries')} will be sent again, ${by}.`] : []),
    ].join('\n'),
  json: ({ redelivered, left }) => ({ redelivered, left }),
  code: ({ left }) => (left.length === 0 ? 0 : 1),
})

const UNFIT = 'there is none that fits, or it was cancelled, is a test, or a later message took its place'

const deliveryNumber = (text: string): number =>
  readNumber(text, 'A delivery is named by its number, which chainsieve rules deliveries shows')

/** The number of what a store holds; `expectation` begins the refusal of anything else. */
export const readNumber = (text: string, expectation: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw misused(`${expectation}, not ${JSON.stringify(text)}.`)
  return Number(text)
}
