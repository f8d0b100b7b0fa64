import type { Act, Actor } from '../../accounts/audit.ts'
import type { TokenInfo } from '../../accounts/index.ts'
import { isRecord } from '../../lib/arrays.ts'
import { messageOf, refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { version } from '../../lib/runtime.ts'
import { mapInTurns } from '../../lib/scheduling/event-loop.ts'
import type { Limits } from '../../limits/index.ts'
import { shortenText } from '../../query/json.ts'
import { checkFilled, checkObject, checkOptional, createInputPlace, type InputPlace } from '../../rules/input.ts'
import type { RuleFault } from '../../rules/schema.ts'
import { jsonResponse } from '../answer.ts'
import { readRequestBody, readWithin } from '../body.ts'
import { actorOf, askedBy, type RequestContext } from '../context.ts'
import { invalid } from '../errors.ts'
import { answerSchema, closedSchema, listSchema, schemaRef } from '../openapi/schema.ts'
import { addressParameter, flagParameter, hexParameter, readMembers, routesOf } from '../request.ts'
import {
  type AbiAnswer,
  type AbiOfAddress,
  newRedecodings,
  type RatesAnswer,
  type RedecodingAnswer,
  type ServedNetwork,
  type StorageAnswer,
  type WholeAbiAnswer,
} from '../shapes/management.ts'

interface ManagementServices extends Management {
  limits: Limits
  features: readonly ('search' | 'rules' | 'abis' | 'metrics')[]
}

const managementRoute = routesOf<ManagementServices>('Management')

const accountRoute = managementRoute(
  'get',
  '/account',
  'Whose token this is, what it may do, and what this server has.',
  { answers: 'Account' },
  ({ limits, features, ...management }, parameters) =>
    c => {
      parameters(c)
      const caller = c.get('account')
      const token = management.token(caller.token)
      return jsonResponse({
        account: caller.name,
        token: {
          id: caller.token,
          hint: token?.hint ?? null,
          scopes: [...caller.scopes],
          createdAt: isoTimeOrNull(token?.createdAt),
          expiresAt: isoTimeOrNull(token?.expiresAt),
          rate: token?.rate ?? null,
        },
        limits,
        server: { version, features, networks: management.networks() },
      })
    },
)

const isoTimeOrNull = (time: number | null | undefined): string | null =>
  time == null ? null : new Date(time).toISOString()

const ratesRoute = managementRoute(
  'get',
  '/status/rates',
  'How fast networks were indexed in the last hour.',
  { query: ['network'], answers: 'Rates' },
  (management, parameters) => c => {
    const { network } = parameters(c)
    if (network !== undefined) requireNetwork(network, management)
    return jsonResponse(management.rates(network))
  },
)

const storageRoute = managementRoute(
  'get',
  '/status/storage',
  'What takes how much room in the store of a network. Needs the scope admin.',
  {
    query: ['network'],
    answers: {
      200: answerSchema(schemaRef('Storage')),
      202: answerSchema(schemaRef('Storage'), 'It is measured now: ask again.'),
    },
  },
  (management, parameters) => async c => {
    const { network } = parameters(c)
    if (network === undefined)
      throw refuse('illegal_argument_exception', 'Name the network: /status/storage?network=T/B/N.')
    requireNetwork(network, management)
    const found = await management.storage(network)
    return jsonResponse(found, found.storage === null && found.state === 'measuring' ? 202 : 200)
  },
)

/** Refuses networks that this server does not have. */
const requireNetwork = (network: string, management: Pick<Management, 'networks'>): void => {
  const known = management.networks().map(it => it.network)
  if (known.includes(network)) return
  throw refuse(
    'index_not_found_exception',
    `There is no network ${shortenText(JSON.stringify(network))} here.${didYouMean(shortenText(network), known)} GET /account lists the networks.`,
  )
}

const ABI_WHERE = ['network', 'address', 'codeHash', 'name'] as const

/** ABIs that were added, not the bundled registry. */
const listAbisRoute = managementRoute(
  'get',
  '/abis',
  'The ABIs that were added. Needs the scope admin, as do all routes of ABIs.',
  { query: ABI_WHERE, answers: { 200: answerSchema(closedSchema({ abis: listSchema(schemaRef('Abi')) })) } },
  ({ abis }, parameters) =>
    async c => {
      const { name, ...where } = parameters(c)
      return jsonResponse({ abis: await abis.list({ name, ...whereOf(where) }) })
    },
)

const getAbiRoute = managementRoute(
  'get',
  '/abis/{id}',
  'One ABI with its declarations.',
  { answers: 'WholeAbi' },
  ({ abis }) =>
    async c => {
      const id = abiIdOf(c)
      const abi = await abis.get(id)
      if (!abi) throw absent(id)
      return jsonResponse(abi)
    },
)

const removeAbiRoute = managementRoute(
  'delete',
  '/abis/{id}',
  'Removes an ABI. What was decoded by it stays so.',
  { answers: { 204: { description: 'It was removed.' } } },
  management => c => {
    const id = abiIdOf(c)
    if (!management.abis.remove(id)) throw absent(id)
    management.note(actorOf(c), { action: 'abi remove', target: id })
    return new Response(null, { status: 204 })
  },
)

const abiIdOf = (c: RequestContext): string => {
  const id = c.req.param('id')!
  if (!/^[0-9a-f]{16}$/.test(id)) throw absent(id)
  return id
}

const absent = (id: string) =>
  refuse('resource_not_found_exception', `There is no ABI ${id}: GET /abis/ lists those that were added.`)

const addAbisRoute = managementRoute(
  'post',
  '/abis',
  'Adds ABIs: one in any form that the command line reads, or several.',
  {
    query: [...ABI_WHERE, 'redecode'],
    body: { schema: schemaRef('NewAbis'), required: true },
    answers: {
      201: answerSchema(
        closedSchema({ abis: listSchema(schemaRef('Abi')), redecodings: listSchema(schemaRef('Redecoding')) }),
        'They were added.',
      ),
    },
  },
  (management, parameters) => async c => {
    const { redecode, name, ...where } = parameters(c)
    const redecodes = redecode !== undefined && flagParameter('redecode', redecode)
    const read = await readNew(c, management.limits, { name, ...whereOf(where) })
    if (read.faults.length > 0) return invalid(read.faults)
    for (const abi of read.abis) checkHolder(abi, management)
    const added = await management.abis.add(read.abis)
    await mapInTurns(added, abi =>
      management.note(actorOf(c), { action: 'abi add', target: abi.name, detail: abiDetail(abi) }),
    )
    const redecodings = redecodes
      ? await management.redecodings.start(
          added.map(({ id }) => id),
          undefined,
        )
      : []
    return jsonResponse({ abis: added, redecodings }, 201)
  },
)

const abiDetail = ({ id, network, address, codeHash }: AbiAnswer) => ({ id, network, address, codeHash })

interface Around {
  name: string | undefined
  network: string | undefined
  address: string | undefined
  codeHash: string | undefined
}

const whereOf = ({ network, address, codeHash }: Partial<Record<'network' | 'address' | 'codeHash', string>>) => ({
  network,
  address: addressParameter('address', address),
  codeHash: hexParameter('codeHash', codeHash, 32, 'a hash'),
})

const readNew = async (
  c: RequestContext,
  limits: Limits,
  around: Around,
): Promise<{ abis: NewAbi[]; faults: readonly RuleFault[] }> => {
  const bytes = await readWithin(c, 'abiUpload', limits, limits => readRequestBody(c, limits))
  if (bytes === undefined)
    throw refuse('parsing_exception', 'The body is missing: send a JSON ABI, an artifact, or {"abis": […]}.')
  const text = new TextDecoder().decode(bytes)
  // Tools send JSON under many a content type; lists of signatures begin otherwise.
  if (!/^\s*[[{]/.test(text)) return { abis: [createNewAbi(text, 'The body', around, {})], faults: [] }
  const body = parseAbiBody(text)
  if (!isRecord(body) || !Array.isArray(body.abis)) {
    const single = isRecord(body) && ENTRY_KEYS.some(key => Object.hasOwn(body, key)) ? { abis: [body] } : undefined
    return single
      ? severalIn(single, around)
      : { abis: [createNewAbi(JSON.stringify(body), 'The body', around, {})], faults: [] }
  }
  return severalIn(body, around)
}

const parseAbiBody = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw refuse('parsing_exception', `The body is not JSON: ${messageOf(error)}`, error)
  }
}

/** Keys of an entry that artifacts do not have. */
const ENTRY_KEYS = ['address', 'codeHash', 'network']
const ABI_KEYS = ['abi', 'name', 'network', 'address', 'codeHash']
const MAX_ABIS_AT_ONCE = 1_000

const severalIn = (body: object, around: Around): { abis: NewAbi[]; faults: readonly RuleFault[] } => {
  const faults: RuleFault[] = []
  const list = createInputPlace(body, faults).member('abis')
  const entries = list.value as readonly unknown[]
  if (entries.length === 0 || entries.length > MAX_ABIS_AT_ONCE)
    list.fault(`abis must be a list of 1 to ${MAX_ABIS_AT_ONCE} ABIs, not of ${entries.length}.`)
  const abis = entries.slice(0, MAX_ABIS_AT_ONCE).flatMap((_, n) => readAbiEntry(list.element(n), around) ?? [])
  return { abis, faults }
}

const readAbiEntry = (place: InputPlace, around: Around): NewAbi | undefined => {
  if (!isRecord(place.value) || !Object.hasOwn(place.value, 'abi')) {
    place.fault(`${place.label} must be an object with "abi": a JSON ABI, or an artifact.`)
    return undefined
  }
  const { contractName } = place.value
  // Artifacts have many other members.
  const isArtifact = contractName !== undefined || Object.hasOwn(place.value, 'bytecode')
  if (!isArtifact && !checkObject(place, { what: 'an ABI', known: ABI_KEYS })) return undefined
  for (const name of ['name', 'network']) checkOptional(place.member(name), member => void checkFilled(member))
  checkHex(place.member('address'), 20)
  checkHex(place.member('codeHash'), 32)
  const { abi, ...entry } = place.value as { abi: unknown } & Partial<Record<keyof Around, string>>
  return createNewAbi(JSON.stringify(isRecord(abi) ? abi : { abi }), place.path, around, {
    ...entry,
    ...(entry.name === undefined && typeof contractName === 'string' && { name: contractName }),
  })
}

const checkHex = (place: InputPlace, bytes: number) =>
  checkOptional(place, ({ value, label, fault }) => {
    if (typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-f]+$/i.test(value)) return
    fault(`${label} must be 0x and ${2 * bytes} hex digits.`)
  })

const createNewAbi = (text: string, place: string, around: Around, own: Partial<Around>): NewAbi => ({
  ...{ text, place },
  name: own.name ?? around.name,
  network: own.network ?? around.network ?? null,
  address: own.address ?? around.address ?? null,
  codeHash: own.codeHash ?? around.codeHash ?? null,
})

/** Refused as the command line refuses it. */
const checkHolder = ({ place, network, address, codeHash }: NewAbi, management: Management) => {
  if (network !== null) requireNetwork(network, management)
  if (address !== null && codeHash !== null)
    throw refuse('bad_abi', `${place}: an ABI is for a contract or for a code: give address or codeHash, not both.`)
  if (address !== null && network === null)
    throw refuse('bad_abi', `${place}: name the network of the contract ${address}, as network=T/B/N.`)
}

const abiOfAddressRoute = managementRoute(
  'get',
  '/{technology}/{blockchain}/{network}/abi/{address}',
  'What decodes the logs and calls of a contract.',
  { answers: 'AbiOfAddress' },
  (management, parameters) => async c => {
    parameters(c)
    const { technology, blockchain, network: name, address } = c.req.param() as Record<string, string>
    const network = `${technology}/${blockchain}/${name}`
    requireNetwork(network, management)
    if (!/^0x[0-9a-f]{40}$/i.test(address!))
      throw refuse('illegal_argument_exception', `${address} is not an address: it has 0x and 40 hex digits.`)
    return jsonResponse(await management.abiOf(network, address!.toLowerCase(), askedBy(c)))
  },
)

const listRedecodings = managementRoute(
  'get',
  '/redecodings',
  'What is decoded again now, and what waits for its turn. Needs the scope admin, as do the next two.',
  { answers: { 200: answerSchema(closedSchema({ redecodings: listSchema(schemaRef('Redecoding')) })) } },
  ({ redecodings }, parameters) =>
    async c => {
      parameters(c)
      return jsonResponse({ redecodings: await redecodings.list() })
    },
)

const startRedecodings = managementRoute(
  'post',
  '/redecodings',
  'Decodes stored blocks again by some ABIs.',
  {
    body: { schema: schemaRef('NewRedecodings'), required: true },
    answers: {
      202: answerSchema(closedSchema({ redecodings: listSchema(schemaRef('Redecoding')) }), 'They were requested.'),
    },
  },
  management => async c => {
    const body = await readMembers(c, management.limits, newRedecodings)
    if (!('members' in body)) return invalid(body.faults)
    const { abis, networks } = body.members
    for (const network of networks ?? []) requireNetwork(network, management)
    const started = await management.redecodings.start(abis, networks)
    const detail = { networks: [...new Set(started.map(({ network }) => network))] }
    management.note(actorOf(c), { action: 'redecode start', target: abis.join(' '), detail })
    return jsonResponse({ redecodings: started }, 202)
  },
)

const stopRedecoding = managementRoute(
  'delete',
  '/redecodings/{id}',
  'Stops decoding again. What is decoded already stays so.',
  { answers: { 202: answerSchema(schemaRef('Redecoding'), 'It stops before its next step.') } },
  management => async c => {
    const id = c.req.param('id')!
    const stopped = await management.redecodings.stop(id)
    if (!stopped)
      throw refuse(
        'resource_not_found_exception',
        `There is no re-decoding ${id}: it has ended, or was never requested. GET /redecodings/ lists those in progress.`,
      )
    management.note(actorOf(c), { action: 'redecode stop', target: stopped.abi, detail: { network: stopped.network } })
    return jsonResponse(stopped, 202)
  },
)

/** Routes that manage a server. */
export const MANAGEMENT_ROUTES = [
  accountRoute,
  ratesRoute,
  storageRoute,
  listAbisRoute,
  addAbisRoute,
  getAbiRoute,
  removeAbiRoute,
  abiOfAddressRoute,
  listRedecodings,
  startRedecodings,
  stopRedecoding,
]

export interface Management {
  token(id: number): TokenInfo | undefined
  /** Writes to the audit trail. */
  note(by: Actor, act: Act): void
  networks(): ServedNetwork[]
  abis: AbiShelf
  redecodings: RedecodingService
  /** Returns the ABI that decodes a contract's logs and calls. */
  abiOf(network: string, address: string, asking: { account: number; signal: AbortSignal }): Promise<AbiOfAddress>
  /** Indexing rates of one network or all. */
  rates(network: string | undefined): RatesAnswer
  /** Storage of a network; measured again if the last measurement is old. */
  storage(network: string): Promise<StorageAnswer>
}

interface AbiFilter {
  network?: string | undefined
  address?: string | undefined
  codeHash?: string | undefined
  name?: string | undefined
}

/** An ABI as it was sent. */
export interface NewAbi {
  /** In any of the forms that the command line reads. */
  text: string
  place: string
  name: string | undefined
  network: string | null
  address: string | null
  codeHash: string | null
}

export interface AbiShelf {
  list(filter: AbiFilter): Promise<AbiAnswer[]>
  info(id: string): Promise<AbiAnswer | undefined>
  /** Includes the declarations. */
  get(id: string): Promise<WholeAbiAnswer | undefined>
  /** Stores all of them, or none if one is bad. */
  add(abis: readonly NewAbi[]): Promise<AbiAnswer[]>
  /** False for an unknown id. */
  remove(id: string): boolean
}

export interface RedecodingService {
  list(): Promise<RedecodingAnswer[]>
  /** Starts on these networks, or on all stored ones that the ABIs concern. Refuses unknown ids. */
  start(abis: readonly string[], networks: readonly string[] | undefined): Promise<RedecodingAnswer[]>
  /** Undefined for an unknown id. */
  stop(id: string): Promise<RedecodingAnswer | undefined>
}
