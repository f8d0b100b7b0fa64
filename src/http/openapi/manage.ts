import { EVERYWHERE, type Operation, told } from './operations.ts'
import { closed, listOf, ref } from './schema.ts'

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
    body: { schema: ref('NewRedecodings'), required: true },
    answers: { 202: told(closed({ redecodings: listOf(ref('Redecoding')) }), 'They were asked for.') },
  },
  {
    ...{ method: 'delete', path: '/redecodings/{id}', tag: 'Management' },
    doc: 'Stops decoding again. What is decoded already stays so.',
    query: EVERYWHERE,
    answers: { 202: told(ref('Redecoding'), 'It stops before its next step.') },
  },
]
