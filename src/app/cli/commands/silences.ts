import { duration, moment, textKind } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import type { SilenceAnswer } from '../../../http/shapes/rules.ts'
import type { SilenceBook } from '../../rules.ts'
import { type CommandContext, command, misused } from '../command.ts'
import { formatTable, formatText } from '../format.ts'
import { createAlertingAsk, serverOf } from '../open-rule-book.ts'
import { ACCOUNT, BOOK, readNumber } from './rules.ts'

const openSilenceBook = (
  { services, config, shutdown }: Pick<CommandContext, 'services' | 'config' | 'shutdown'>,
  account: string | undefined,
): SilenceBook => {
  const at = serverOf(config, account)
  if (!at) return services.openRules(config, { shutdown }).silences(account)
  const ask = createAlertingAsk(at.server, at.token, 'silences')
  return {
    all: async () => (await ask<{ silences: SilenceAnswer[] }>('GET', '')).silences,
    add: silence => ask<SilenceAnswer>('POST', '', silence),
    remove: async id => void (await ask('DELETE', `${id}/`)),
  }
}

export const silencesListCommand = command({
  name: 'silences list',
  usage: '[--account NAME]',
  summary: 'Lists the silences of an account, newest first.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [0, 0],
  run: context => openSilenceBook(context, context.options.account).all(),
  format: silences =>
    silences.length === 0
      ? 'There are no silences.'
      : formatTable(
          ['ID', 'STATE', 'FROM', 'TO', 'AUTHOR', 'MATCHER', 'REASON'],
          silences.map(({ id, state, from, to, author, matcher, reason }) => [
            ...[String(id), state, from, to, formatText(author, 40)],
            ...[formatText(JSON.stringify(matcher), 80), formatText(reason, 80)],
          ]),
        ),
  json: silences => silences,
})

export const silencesAddCommand = command({
  name: 'silences add',
  usage:
    '[--account NAME] [--rules ID,…] [--network T/B/N] [--channel TYPE] [--label NAME=VALUE] [--field NAME=VALUE] [--from TIME] --to TIME|--for DURATION REASON',
  summary: 'Silences alerts for a time: those that meet all given conditions, of which at least one is required.',
  settings: BOOK,
  options: {
    ...ACCOUNT,
    rules: setting(textKind('numbers of rules', 'ID,…'), undefined, 'Alerts of the rules with these numbers.'),
    network: setting(
      textKind('a network', 'T/B/N'),
      undefined,
      'Alerts of that network. Each part may be * for any: */*/* covers all alerts.',
    ),
    channel: setting(textKind('a type of receiver', 'TYPE'), undefined, 'Messages to receivers of that type.'),
    label: setting(
      textKind('a property and its value', 'NAME=VALUE'),
      undefined,
      'Alerts of rules with that further property, such as team=payments.',
    ),
    field: setting(
      textKind('a field and its value', 'NAME=VALUE'),
      undefined,
      'Alerts of documents with that value, such as address=0x… or args.to=0x….',
    ),
    from: setting(moment, undefined, 'When it begins. The default is now.'),
    to: setting(moment, undefined, 'When it ends, such as 2030-05-17T12:00:00Z.'),
    for: setting(duration, undefined, 'How long it lasts, instead of --to.'),
  },
  arity: [1, 1],
  run: async context => {
    const { args, options } = context
    const { account, rules, network, channel, label, field, from, to, for: lasts } = options
    if ((to === undefined) === (lasts === undefined)) throw misused('Until when? Add --to TIME or --for DURATION.')
    const end = to ?? (from ?? Date.now()) + lasts!
    const matcher = {
      ...(rules !== undefined && { rules: rules.split(',').map(ruleNumber) }),
      ...(network !== undefined && { network }),
      ...(channel !== undefined && { channel }),
      ...(label !== undefined && { labels: namedValue('--label', label) }),
      ...(field !== undefined && { fields: namedValue('--field', field) }),
    }
    if (Object.keys(matcher).length === 0)
      throw misused(
        'Which alerts? Add --rules, --network, --channel, --label or --field; for all of them, --network "*/*/*".',
      )
    const silence = {
      ...{ matcher, to: new Date(end).toISOString(), reason: args[0] },
      ...(from !== undefined && { from: new Date(from).toISOString() }),
    }
    return openSilenceBook(context, account).add(silence)
  },
  format: ({ id, from, to }) => `Silence ${id} lasts from ${from} to ${to}.`,
  json: silence => silence,
})

const ruleNumber = (text: string): number => readNumber(text, '--rules takes numbers of rules')

const namedValue = (flag: string, text: string): Record<string, string> => {
  const at = text.indexOf('=')
  if (at < 1) throw misused(`${flag} takes a name and its value, such as team=payments, not ${JSON.stringify(text)}.`)
  return { [text.slice(0, at)]: text.slice(at + 1) }
}

export const silencesRemoveCommand = command({
  name: 'silences remove',
  usage: '[--account NAME] ID',
  summary: 'Ends a silence at once and removes it.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [1, 1],
  run: async context => {
    const id = readNumber(context.args[0]!, 'A silence is named by its number, which chainsieve silences list shows')
    await openSilenceBook(context, context.options.account).remove(id)
    return { id }
  },
  format: ({ id }) => `Silence ${id} is removed.`,
})
