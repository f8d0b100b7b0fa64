import { text } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { command } from '../../command.ts'
import type { ListedRule, ShownRule } from '../../rules-service.ts'
import { showTable, showText } from '../../show.ts'
import { BOOK, openBook } from './chosen.ts'

export const listRules = command({
  name: 'rules list',
  usage: '[--account NAME]',
  summary: 'Lists the alert rules of all accounts, and how often each has fired. With --server, those of the token.',
  settings: BOOK,
  options: {
    account: setting(text('a name', 'NAME'), undefined, 'Account whose rules are listed.'),
  },
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, options: { account }, print }) => {
    if (config.server !== undefined) {
      const shown = await openBook({ services, config, log, shutdown }, account).list()
      return print(config.json ? JSON.stringify(shown) : shown.length === 0 ? 'There are no rules.' : showBook(shown))
    }
    const rules = services.openRules(config, { log, shutdown }).list(account)
    print(config.json ? JSON.stringify(rules.map(toJson)) : rules.length === 0 ? 'There are no rules.' : show(rules))
  },
})

const showBook = (rules: ShownRule[]): string =>
  showTable(
    ['ID', 'NAME', 'NETWORK', 'TARGET', 'STATE', 'CONFIRMATIONS', 'FIRED'],
    rules.map(({ id, name, technology, blockchain, network, config, enabled, idle, ...rest }) => [
      ...[String(id), showText(name, 40), `${technology}/${blockchain}/${network}`, config.targetType],
      !enabled ? 'paused' : idle === null ? 'active' : 'idle',
      ...[String(rest.maxConfirmationCount), String(rest.triggerCount)],
    ]),
  )

const stateOf = ({ rule, idle }: ListedRule) => (!rule.enabled ? 'paused' : idle === undefined ? 'active' : 'idle')

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
    ...rules.filter(it => stateOf(it) === 'idle').map(({ rule, idle }) => `Rule ${rule.id} is idle: ${idle}.`),
  ].join('\n')

/** The columns of the table, and the rule as its owner wrote it. */
const toJson = (listed: ListedRule) => {
  const { rule, account, idle, fired } = listed
  const { id, network, startBlock, input } = rule
  const state = stateOf(listed)
  return { id, account, network, state, idle: state === 'idle' ? idle : null, startBlock, fired, rule: input }
}
