import { text } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { command } from '../../command.ts'
import type { Cancelled, RuleBook, ShownRule } from '../../rules-service.ts'
import { showTable, showText } from '../../show.ts'
import { ACCOUNT, BOOK, choose, openBook, showCancelled } from './chosen.ts'

type Change = (book: RuleBook, rule: ShownRule) => Promise<Cancelled>

const changing = (name: string, done: string, summary: string, change: Change) =>
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
      const chosen = [...new Set(args.map(which => choose(all, which)))]
      const results: object[] = []
      for (const rule of chosen) {
        const { cancelledDeliveries } = await change(book, rule)
        const result = cancelledDeliveries === undefined ? {} : { cancelledDeliveries }
        results.push({ id: rule.id, name: rule.name, ...result })
        if (!config.json) print(`Rule ${rule.id} (${showText(rule.name)}) is ${done}.${showCancelled(result)}`)
      }
      if (config.json) print(JSON.stringify(results))
    },
  })

export const pauseRules = changing(
  'pause',
  'paused',
  'Pauses rules, and cancels what is queued for them.',
  (book, { id }) => book.put(id, { enabled: false }),
)

export const resumeRules = changing('resume', 'active', 'Resumes rules that were paused.', (book, { id }) =>
  book.put(id, { enabled: true }),
)

export const deleteRules = changing(
  'delete',
  'deleted',
  'Deletes rules, and cancels what is queued for them.',
  (book, { id }) => book.remove(id),
)

export const showRule = command({
  name: 'rules show',
  usage: 'ID|NAME [--account NAME]',
  summary: 'Prints a rule as JSON, as chainsieve rules apply takes it.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [1, 1],
  run: async context => {
    const { args, options, print } = context
    print(JSON.stringify(choose(await openBook(context, options.account).list(), args[0]!), null, 2))
  },
})

export const testRule = command({
  name: 'rules test',
  usage: 'ID|NAME [--document ID] [--account NAME]',
  summary: 'Sends each alert of a rule once, marked as a test. Exit code 1 if a receiver did not take it.',
  settings: [...BOOK, 'allowTarget', 'smtp', 'mailFrom', 'deliveryTimeout', 'queryDeadline', 'limit'],
  options: {
    ...ACCOUNT,
    document: setting(
      text('the id of a stored document', 'ID'),
      undefined,
      'Document to send. The default is the newest that the rule finds.',
    ),
  },
  arity: [1, 1],
  run: async context => {
    const { args, config, options, print } = context
    const book = openBook(context, options.account)
    const { id } = choose(await book.list(), args[0]!)
    const tested = await book.test(id, options.document)
    print(
      config.json
        ? JSON.stringify(tested)
        : [
            `Sent ${tested.entity._type} ${tested.entity._id}:`,
            showTable(
              ['CHANNEL', 'TARGET', 'RESULT', 'STATUS', 'MS', 'ERROR'],
              tested.deliveries.map(({ type, target, delivered, status, latencyMs, error }) => [
                ...[type, showText(target, 80), delivered ? 'delivered' : 'failed'],
                ...[String(status ?? '-'), String(latencyMs), showText(error ?? '-')],
              ]),
            ),
          ].join('\n'),
    )
    return tested.deliveries.every(({ delivered }) => delivered) ? 0 : 1
  },
})
