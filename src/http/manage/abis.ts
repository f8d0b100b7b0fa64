import { messageOf, refuse } from '../../lib/errors.ts'
import { isRecord } from '../../lib/record.ts'
import { mapInTurns } from '../../lib/scheduling/event-loop.ts'
import type { Limits } from '../../limits/index.ts'
import { filled, object, optional, type Place, placeOf } from '../../rules/place.ts'
import type { Fault } from '../../rules/schema.ts'
import { readParameters } from '../alerting/request.ts'
import { readBody, readWithin } from '../body.ts'
import { actorOf, type Context, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { addressOf, flagOf, hexOf } from '../parameters.ts'
import type { Abi } from '../shapes/management.ts'
import { checkNetwork } from './networks.ts'
import type { Management, NewAbi } from './service.ts'

/** `GET /abis/`: those that were given, not those of the bundled registry. */
export const listAbis =
  ({ abis }: Management): Handler =>
  async c => {
    const { name, ...where } = readParameters(c, ['network', 'address', 'codeHash', 'name'])
    return json({ abis: await abis.list({ name, ...whereOf(where) }) })
  }

/** `GET /abis/<id>/`: one, with its declarations as a JSON ABI. */
export const getAbi =
  ({ abis }: Management): Handler =>
  async c => {
    const id = idOf(c)
    const abi = await abis.get(id)
    if (!abi) throw absent(id)
    return json(abi)
  }

/** `DELETE /abis/<id>/`: what is decoded by it stays decoded. */
export const removeAbi =
  (management: Management): Handler =>
  c => {
    const id = idOf(c)
    if (!management.abis.remove(id)) throw absent(id)
    management.note(actorOf(c), { action: 'abi remove', target: id })
    return new Response(null, { status: 204 })
  }

const idOf = (c: Context): string => {
  const id = c.req.param('id')!
  if (!/^[0-9a-f]{16}$/.test(id)) throw absent(id)
  return id
}

const absent = (id: string) =>
  refuse('resource_not_found_exception', `There is no ABI ${id}: GET /abis/ lists those that were added.`)

/** `POST /abis/`: one in any form that the command line reads, or several as `{"abis": […]}`. */
export const addAbis =
  (management: Management, limits: Limits): Handler =>
  async c => {
    const { redecode, name, ...where } = readParameters(c, ['network', 'address', 'codeHash', 'name', 'redecode'])
    const redecodes = redecode !== undefined && flagOf('redecode', redecode)
    const read = await readNew(c, limits, { name, ...whereOf(where) })
    if (read.faults.length > 0) return invalid(read.faults)
    for (const abi of read.abis) checkHolder(abi, management)
    const added = await management.abis.add(read.abis)
    await mapInTurns(added, abi =>
      management.note(actorOf(c), { action: 'abi add', target: abi.name, detail: detailOf(abi) }),
    )
    const redecodings = redecodes
      ? await management.redecodings.start(
          added.map(({ id }) => id),
          undefined,
        )
      : []
    return json({ abis: added, redecodings }, 201)
  }

const detailOf = ({ id, network, address, codeHash }: Abi) => ({ id, network, address, codeHash })

interface Around {
  name: string | undefined
  network: string | undefined
  address: string | undefined
  codeHash: string | undefined
}

const whereOf = ({ network, address, codeHash }: Partial<Record<'network' | 'address' | 'codeHash', string>>) => ({
  network,
  address: addressOf('address', address),
  codeHash: hexOf('codeHash', codeHash, 32, 'a hash'),
})

const readNew = async (
  c: Context,
  limits: Limits,
  around: Around,
): Promise<{ abis: NewAbi[]; faults: readonly Fault[] }> => {
  const bytes = await readWithin(c, 'abiUpload', limits, limits => readBody(c, limits))
  if (bytes === undefined)
    throw refuse('parsing_exception', 'The body is missing: send a JSON ABI, an artifact, or {"abis": […]}.')
  const text = new TextDecoder().decode(bytes)
  // Tools send JSON under many a content type; lists of signatures begin otherwise.
  if (!/^\s*[[{]/.test(text)) return { abis: [newAbi(text, 'The body', around, {})], faults: [] }
  const body = parsed(text)
  if (!isRecord(body) || !Array.isArray(body.abis)) {
    const single = isRecord(body) && ONE.some(key => Object.hasOwn(body, key)) ? { abis: [body] } : undefined
    return single
      ? severalIn(single, around)
      : { abis: [newAbi(JSON.stringify(body), 'The body', around, {})], faults: [] }
  }
  return severalIn(body, around)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw refuse('parsing_exception', `The body is not JSON: ${messageOf(error)}`, error)
  }
}

/** What tells an entry from an artifact: that has none of them. */
const ONE = ['address', 'codeHash', 'network']
const KNOWN = ['abi', 'name', 'network', 'address', 'codeHash']
const MOST = 1_000

const severalIn = (body: object, around: Around): { abis: NewAbi[]; faults: readonly Fault[] } => {
  const faults: Fault[] = []
  const list = placeOf(body, faults).member('abis')
  const entries = list.value as readonly unknown[]
  if (entries.length === 0 || entries.length > MOST)
    list.fault(`abis must be a list of 1 to ${MOST} ABIs, not of ${entries.length}.`)
  const abis = entries.slice(0, MOST).flatMap((_, n) => readEntry(list.element(n), around) ?? [])
  return { abis, faults }
}

const readEntry = (place: Place, around: Around): NewAbi | undefined => {
  if (!isRecord(place.value) || !Object.hasOwn(place.value, 'abi')) {
    place.fault(`${place.label} must be an object with "abi": a JSON ABI, or an artifact.`)
    return undefined
  }
  const { contractName } = place.value
  // An artifact has much besides.
  const isArtifact = contractName !== undefined || Object.hasOwn(place.value, 'bytecode')
  if (!isArtifact && !object(place, { what: 'an ABI', known: KNOWN })) return undefined
  for (const name of ['name', 'network']) optional(place.member(name), member => void filled(member))
  hex(place.member('address'), 20)
  hex(place.member('codeHash'), 32)
  const { abi, ...entry } = place.value as { abi: unknown } & Partial<Record<keyof Around, string>>
  return newAbi(JSON.stringify(isRecord(abi) ? abi : { abi }), place.path, around, {
    ...entry,
    ...(entry.name === undefined && typeof contractName === 'string' && { name: contractName }),
  })
}

const hex = (place: Place, bytes: number) =>
  optional(place, ({ value, label, fault }) => {
    if (typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-f]+$/i.test(value)) return
    fault(`${label} must be 0x and ${2 * bytes} hex digits.`)
  })

const newAbi = (text: string, place: string, around: Around, own: Partial<Around>): NewAbi => ({
  ...{ text, place },
  name: own.name ?? around.name,
  network: own.network ?? around.network ?? null,
  address: own.address ?? around.address ?? null,
  codeHash: own.codeHash ?? around.codeHash ?? null,
})

/** Refused as the command line refuses it. */
const checkHolder = ({ place, network, address, codeHash }: NewAbi, management: Management) => {
  if (network !== null) checkNetwork(network, management)
  if (address !== null && codeHash !== null)
    throw refuse('bad_abi', `${place}: an ABI is for a contract or for a code: give address or codeHash, not both.`)
  if (address !== null && network === null)
    throw refuse('bad_abi', `${place}: name the network of the contract ${address}, as network=T/B/N.`)
}
