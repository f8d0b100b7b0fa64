import { parseListValues } from '../../../rules/list-values.ts'
import type { ListBook } from '../../rules.ts'
import { type CommandContext, command } from '../command.ts'
import { formatCount, formatTable } from '../format.ts'
import { createAlertingAsk, serverOf } from '../open-rule-book.ts'
import { readInputFile } from './rule-files.ts'
import { ACCOUNT, BOOK } from './rules.ts'

/** Bytes of values in one request, which is below what a server takes. */
const REQUEST_CHARACTERS = 4_000_000

const openListBook = (
  { services, config, shutdown }: Pick<CommandContext, 'services' | 'config' | 'shutdown'>,
  account: string | undefined,
): ListBook => {
  const at = serverOf(config, account)
  if (!at) return services.openRules(config, { shutdown }).lists(account)
  const ask = createAlertingAsk(at.server, at.token, 'lists')
  const pathOf = (name: string) => `${encodeURIComponent(name)}/`
  const inPieces = async (name: string, values: readonly string[], change: 'add' | 'remove') => {
    let [count, size] = [0, 0]
    for (const piece of piecesOf(values)) {
      const done = await ask<{ count: number; size: number }>('POST', `${pathOf(name)}${change}/`, piece)
      count += done.count
      size = done.size
    }
    return { count, size }
  }
  return {
    all: async () => (await ask<{ lists: Awaited<ReturnType<ListBook['all']>> }>('GET', '')).lists,
    async put(name, values) {
      const [first, ...others] = piecesOf(values)
      const made = await ask<{ size: number }>('PUT', pathOf(name), first)
      return others.length === 0 ? made : inPieces(name, others.flat(), 'add')
    },
    change: (name, values, added) => inPieces(name, values, added ? 'add' : 'remove'),
    has: async (name, value) =>
      (await ask<{ values: string[] }>('GET', `${pathOf(name)}values/?value=${encodeURIComponent(value)}`)).values
        .length > 0,
    remove: async name => void (await ask('DELETE', pathOf(name))),
  }
}

const piecesOf = (values: readonly string[]): string[][] => {
  const pieces: string[][] = []
  let room = 0
  for (const value of values) {
    room -= value.length + 3
    if (room >= 0) pieces.at(-1)!.push(value)
    else {
      pieces.push([value])
      room = REQUEST_CHARACTERS
    }
  }
  return pieces
}

/** Values of files, or of standard input. */
const valuesOfFiles = async (
  files: readonly string[],
  { streams: { stdin }, config: { limits } }: Pick<CommandContext, 'streams' | 'config'>,
) => {
  const values: string[] = []
  for (const file of files) {
    const bytes = await readInputFile(file, { stdin, limits, subject: file })
    for (const value of await parseListValues(bytes, limits)) values.push(value)
  }
  return values
}

/** What commands have that read values for a list from files. */
const FILLING = {
  usage: '[--account NAME] NAME FILE…|-',
  settings: [...BOOK, 'limit'],
  options: ACCOUNT,
  arity: [2, Number.POSITIVE_INFINITY],
} as const

const values = (count: number) => formatCount(count, 'value', 'values')

export const listsListCommand = command({
  name: 'lists list',
  usage: '[--account NAME]',
  summary: 'Lists the watch lists of an account, their sizes and the rules that use them.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [0, 0],
  run: context => openListBook(context, context.options.account).all(),
  format: lists =>
    lists.length === 0
      ? 'There are no lists.'
      : formatTable(
          ['NAME', 'VALUES', 'RULES'],
          lists.map(({ name, size, rules }) => [name, String(size), rules.map(({ id }) => id).join(', ')]),
        ),
  json: lists => lists.map(({ name, size, rules }) => ({ name, size, rules })),
})

export const listsPutCommand = command({
  ...FILLING,
  name: 'lists put',
  summary: 'Creates a watch list, or replaces its values: one in each line of the files.',
  run: async context => {
    const [name = '', ...files] = context.args
    const list = await valuesOfFiles(files, context)
    return { name, ...(await openListBook(context, context.options.account).put(name, list)) }
  },
  format: ({ name, size }) => `The list ${name} has ${values(size)}.`,
})

const changeCommand = <const T extends 'add' | 'remove'>(change: T, summary: string) =>
  command({
    ...FILLING,
    name: `lists ${change}`,
    summary,
    run: async context => {
      const [name = '', ...files] = context.args
      const list = await valuesOfFiles(files, context)
      const done = await openListBook(context, context.options.account).change(name, list, change === 'add')
      return { name, ...done }
    },
    format: ({ name, count, size }) =>
      `${change === 'add' ? 'Added' : 'Removed'} ${values(count)}: the list ${name} has ${values(size)}.`,
  })

export const listsAddCommand = changeCommand('add', 'Adds the values of files to a watch list.')
export const listsRemoveCommand = changeCommand('remove', 'Removes the values of files from a watch list.')

export const listsHasCommand = command({
  name: 'lists has',
  usage: '[--account NAME] NAME VALUE',
  summary: 'Says whether a watch list has a value. The exit code is 1 if it has not.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [2, 2],
  run: async context => {
    const [name = '', value = ''] = context.args
    const has = await openListBook(context, context.options.account).has(name, value)
    context.print(has ? 'yes' : 'no')
    return has ? 0 : 1
  },
})

export const listsDeleteCommand = command({
  name: 'lists delete',
  usage: '[--account NAME] NAME',
  summary: 'Deletes a watch list, unless rules use it.',
  settings: BOOK,
  options: ACCOUNT,
  arity: [1, 1],
  run: async context => {
    const [name = ''] = context.args
    await openListBook(context, context.options.account).remove(name)
    return { name }
  },
  format: ({ name }) => `The list ${name} is deleted.`,
})
