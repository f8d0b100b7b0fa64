import { EVERYWHERE, type Operation, told } from './operations.ts'
import {
  closed,
  described,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  open,
  orNull,
  ref,
  type Schema,
  text,
  whole,
} from './schema.ts'

const time: Schema & { type: string } = { ...text, format: 'date-time' }
const ranges = listOf(closed({ from: whole, to: whole }))
const STORAGE = ['network', ...EVERYWHERE]
const ABI_WHERE = ['network', 'address', 'codeHash', 'name']

/** Routes by which a server is managed. */
export const MANAGEMENT: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account', tag: 'Management' },
    doc: 'Whose token this is, what it may do, and what this server has.',
    query: EVERYWHERE,
    answers: { 200: told(ref('Account')) },
  },
  {
    ...{ method: 'get', path: '/status/rates', tag: 'Management' },
    doc: 'How fast networks were indexed in the last hour.',
    query: STORAGE,
    answers: { 200: told(ref('Rates')) },
  },
  {
    ...{ method: 'get', path: '/status/storage', tag: 'Management' },
    doc: 'What takes how much room in the store of a network. Needs the scope admin.',
    query: STORAGE,
    answers: { 200: told(ref('Storage')), 202: told(ref('Storage'), 'It is measured now: ask again.') },
  },
  {
    ...{ method: 'get', path: '/abis', tag: 'Management' },
    doc: 'The ABIs that were added. Needs the scope admin, as do all routes of ABIs.',
    query: [...ABI_WHERE, ...EVERYWHERE],
    answers: { 200: told(closed({ abis: listOf(ref('Abi')) })) },
  },
  {
    ...{ method: 'post', path: '/abis', tag: 'Management' },
    doc: 'Adds ABIs: one in any form that the command line reads, or several.',
    query: [...ABI_WHERE, 'redecode', ...EVERYWHERE],
    body: { schema: ref('NewAbis'), required: true },
    answers: {
      201: told(closed({ abis: listOf(ref('Abi')), redecodings: listOf(ref('Redecoding')) }), 'They were added.'),
    },
  },
  {
    ...{ method: 'get', path: '/abis/{id}', tag: 'Management' },
    doc: 'One ABI with its declarations.',
    query: EVERYWHERE,
    answers: { 200: told(ref('WholeAbi')) },
  },
  {
    ...{ method: 'delete', path: '/abis/{id}', tag: 'Management' },
    doc: 'Removes an ABI. What was decoded by it stays so.',
    query: EVERYWHERE,
    answers: { 204: { description: 'It was removed.' } },
  },
  {
    ...{ method: 'get', path: '/{technology}/{blockchain}/{network}/abi/{address}', tag: 'Management' },
    doc: 'What decodes the logs and calls of a contract.',
    query: EVERYWHERE,
    answers: { 200: told(ref('AbiOfAddress')) },
  },
  {
    ...{ method: 'get', path: '/redecodings', tag: 'Management' },
    doc: 'What is decoded again now, and what waits for its turn. Needs the scope admin, as do the next two.',
    query: EVERYWHERE,
    answers: { 200: told(closed({ redecodings: listOf(ref('Redecoding')) })) },
  },
  {
    ...{ method: 'post', path: '/redecodings', tag: 'Management' },
    doc: 'Decodes stored blocks again by some ABIs.',
    query: EVERYWHERE,
    body: { schema: closed({ abis: listOf(text) }, { networks: listOf(text) }), required: true },
    answers: { 202: told(closed({ redecodings: listOf(ref('Redecoding')) }), 'They were asked for.') },
  },
  {
    ...{ method: 'delete', path: '/redecodings/{id}', tag: 'Management' },
    doc: 'Stops decoding again. What is decoded already stays so.',
    query: EVERYWHERE,
    answers: { 202: told(ref('Redecoding'), 'It stops before its next step.') },
  },
]

const ABI: Record<string, Schema> = {
  id: text,
  name: text,
  network: orNull(text),
  address: orNull(text),
  codeHash: orNull(text),
  probability: number,
  events: orNull(whole),
  functions: orNull(whole),
  errors: orNull(whole),
  bytes: whole,
  addedAt: time,
}

const someAbi: Schema = { anyOf: [{ type: 'array' }, open({ abi: { type: 'array' } })] }

export const managementSchemas = (): Record<string, Schema> => ({
  Account: closed({
    account: text,
    token: closed({
      ...{ id: whole, hint: orNull(text), scopes: listOf(text) },
      ...{ createdAt: orNull(time), expiresAt: orNull(time) },
      rate: described('Requests in a minute, where the token has a limit of its own.', orNull(whole)),
    }),
    limits: described('Counts, bytes and milliseconds, by the names of limits.', mapOf(whole)),
    server: closed({
      version: text,
      features: listOf(oneOf(['search', 'abis', 'rules', 'metrics'])),
      networks: listOf(closed({ network: text, indexed: flag, traces: { enum: ['all', 'calls', 'off', null] } })),
    }),
  }),
  Rates: closed({
    everyMs: whole,
    networks: listOf(
      closed({
        network: text,
        samples: listOf(
          closed({
            ...{ at: time, head: orNull(whole), top: orNull(whole), lag: orNull(whole) },
            ...{ blocksPerSecond: orNull(number), eventsPerSecond: orNull(number), secondsLeft: orNull(number) },
          }),
        ),
      }),
    ),
  }),
  Storage: closed({
    network: text,
    state: oneOf(['measuring', 'measured', 'failed']),
    measuredAt: orNull(time),
    tookMs: orNull(whole),
    error: orNull(text),
    storage: {
      ...closed({
        ...{ bytes: whole, log: whole, free: whole, ranges, gaps: ranges },
        parts: listOf(closed({ part: text, what: text, bytes: whole, share: { type: 'number' }, rows: orNull(whole) })),
      }),
      type: ['object', 'null'],
    },
  }),
  Abi: closed(ABI),
  WholeAbi: closed({ ...ABI, abi: listOf({ type: 'object' }) }),
  NewAbis: {
    description: 'A JSON ABI, an artifact of Foundry or Hardhat, or several.',
    anyOf: [
      { type: 'array' },
      open({ abi: { type: 'array' } }),
      open({ abis: listOf(ref('NewAbi')) }),
      { type: 'object' },
    ],
  },
  NewAbi: open({ abi: someAbi }, { name: text, network: text, address: text, codeHash: text }),
  Redecoding: closed({
    ...{ id: text, network: text, abi: text, name: orNull(text), askedAt: time },
    state: oneOf(['waiting', 'running', 'stopping']),
    ...{ nextBlock: orNull(whole), blocksLeft: orNull(whole) },
  }),
  AbiOfAddress: closed({
    ...{ network: text, address: text },
    source: { enum: ['address', 'codeHash', 'implementation', 'similar', 'signatures', null] },
    ...{ name: orNull(text), probability: orNull(number), codeHash: orNull(text) },
    implementations: listOf(closed({ address: text, codeHash: orNull(text), through: orNull(text) })),
    abis: listOf(closed({ ...ABI, source: oneOf(['address', 'codeHash', 'implementation', 'any']), of: orNull(text) })),
  }),
})
