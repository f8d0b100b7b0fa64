import { count, text } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { command } from '../../command.ts'
import type { ListedRule, ShownRule } from '../../rules-service.ts'
import { showTable, showText } from '../../show.ts'
import { BOOK, openBook } from './chosen.ts'

/** What a server lists at once. */
const MOST = 1_000

export const listRules = command({
  name: 'rules list',
  usage: '[--account NAME] [--limit N] [--after ID]',
  summary: 'Lists the alert rules of all accounts, and how often each has fired. With --server, those of the token.',
  settings: BOOK,
  options: {
    account: setting(text('a name', 'NAME'), undefined, 'Account whose rules are listed.'),
    limit: setting(count(1, MOST), undefined, 'Maximum number of rules to list. The default is all.'),
    after: setting(count(0), '0', 'Only rules with a higher number, for the next page.'),
  },
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, options: { account, limit, after }, print }) => {
    const page = limit === undefined && after === 0 ? undefined : { size: limit ?? MOST, after }
    const end = (lastId: number | undefined, length: number) => {
      if (page && length === page.size && !config.json) print(`There may be more rules: --after ${lastId} lists them.`)
    }
    if (config.server !== undefined) {
      const shown = await openBook({ services, config, log, shutdown }, account).list(page)
      print(config.json ? JSON.stringify(shown) : shown.length === 0 ? 'There are no rules.' : showBook(shown))
      return end(shown.at(-1)?.id, shown.length)
    }
    const rules = services.openRules(config, { log, shutdown }).list(account, page)
    print(config.json ? JSON.stringify(rules.map(toJson)) : rules.length === 0 ? 'There are no rules.' : show(rules))
    end(rules.at(-1)?.rule.id, rules.length)
  },
})

const showBook = (rules: ShownRule[]): string =>
  [
    showTable(
      ['ID', 'NAME', 'NETWORK', 'TARGET', 'STATE', 'CONFIRMATIONS', 'FIRED'],
      rules.map(rule => [
        ...[String(rule.id), showText(rule.name, 40), `${rule.technology}/${rule.blockchain}/${rule.network}`],
        ...[rule.config.targetType, bookState(rule)],
        ...[String(rule.maxConfirmationCount), String(rule.triggerCount)],
      ]),
    ),
    ...rules.flatMap(rule => reasons(rule.id, bookState(rule), rule.idle?.replace(/\.$/, ''), failingIn(rule))),
  ].join('\n')

const bookState = (rule: ShownRule) => stateFrom(rule.enabled, rule.idle ?? undefined, failingIn(rule))

/** A server says it in the first warnings. */
const failingIn = ({ failing = [], warnings = [] }: ShownRule): string[] =>
  warnings.slice(0, failing.length).map(warning => warning.replace(/\.$/, ''))

const stateOf = ({ rule, idle, failing }: ListedRule) => stateFrom(rule.enabled, idle, failing)

const stateFrom = (enabled: boolean, idle: string | undefined, failing: readonly string[]) =>
  !enabled ? 'paused' : failing.length > 0 ? 'failing' : idle === undefined ? 'active' : 'idle'

const reasons = (id: number, state: string, idle: string | undefined, failing: readonly string[]): string[] =>
  state === 'paused'
    ? []
    : [
        ...failing.map(why => `Rule ${id} is failing: ${showText(why, 500)}.`),
        ...(idle === undefined ? [] : [`Rule ${id} is idle: ${idle}.`]),
      ]

const show = (rules: ListedRule[]): string =>
  [
    showTable(
      ['ID', 'ACCOUNT', 'NAME', 'NETWORK', 'TARGET', 'STATE', 'CONFIRMATIONS', 'FIRED'],
      rules.map(listed => [
        String(listed.rule.id),
        showText(listed.account, 40),
        showText(listed.rule.input.name, 40),
        listed.rule.network,
        listed.rule.input.config.targetType,
        stateOf(listed),
        String(listed.rule.input.maxConfirmationCount),
        String(listed.fired),
      ]),
    ),
    ...rules.flatMap(it => reasons(it.rule.id, stateOf(it), it.idle, it.failing)),
  ].join('\n')

/** The columns of the table, and the rule as its owner wrote it. */
const toJson = (listed: ListedRule) => {
  const { rule, account, idle, failing, fired } = listed
  const { id, network, startBlock, input } = rule
  const state = stateOf(listed)
  const why = state === 'paused' ? null : (idle ?? null)
  return { id, account, network, state, idle: why, failing, startBlock, fired, rule: input }
}
