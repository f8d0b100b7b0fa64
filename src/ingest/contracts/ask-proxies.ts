import type { ChainSource } from '../../chain/source.ts'
import type { Code } from '../../decode/abi-finder.ts'
import {
  type Delegation,
  IMPLEMENTATION_CALL,
  PROXY_QUESTIONS,
  readAddressWord,
  readDelegation,
} from '../../decode/proxies.ts'
import type { LearntLink } from '../../engine/documents/derived-rows.ts'

export interface LinkInquiryOptions {
  state: ChainSource['state']
  call: ChainSource['call']
  readCode(code: string): Code | null
}

/** Reads facts of contracts at the head, including beacons; `offering`: known beacons. */
type LinkInquiry = (
  addresses: readonly string[],
  offering: readonly string[],
  signal: AbortSignal,
) => Promise<Map<string, Pick<LearntLink, 'codeHash' | 'delegation'>>>

export const createLinkInquiry = ({ state, call, readCode }: LinkInquiryOptions): LinkInquiry | undefined => {
  if (!state || !call) return undefined

  const codesOf = async (addresses: readonly string[], signal: AbortSignal) => {
    const questions = addresses.map(codeOf => ({ codeOf }))
    const texts = questions.length === 0 ? [] : await state(questions, signal)
    return addresses.map((address, i) => ({ address, code: readCode(texts[i]!) }))
  }

  const answersTo = async (calls: readonly { to: string; data: string }[], signal: AbortSignal) => {
    const answers = calls.length === 0 ? [] : await call(calls, signal)
    return new Map(calls.map(({ to }, i) => [to, answers[i]!]))
  }

  const wordsOf = async (slots: readonly { storageOf: string; slot: string }[], signal: AbortSignal) => {
    const words = slots.length === 0 ? [] : await state(slots, signal)
    return new Map(slots.map(({ storageOf }, i) => [storageOf, words[i]!]))
  }

  const delegationsOf = async (codes: Awaited<ReturnType<typeof codesOf>>, signal: AbortSignal) => {
    const proxies = codes.flatMap(({ address, code }) => (code?.proxy ? [{ address, ...code.proxy }] : []))
    const open = proxies
      .filter(({ target }) => target === null)
      .map(({ address, kind }) => ({ address, ...PROXY_QUESTIONS[kind] }))
    const words = await wordsOf(
      open.flatMap(({ address, slot }) => (slot === undefined ? [] : [{ storageOf: address, slot }])),
      signal,
    )
    const answers = await answersTo(
      open.flatMap(({ address, call: data }) => (data === undefined ? [] : [{ to: address, data }])),
      signal,
    )
    const delegations = new Map<string, Delegation | null>()
    for (const { address, kind, target } of proxies)
      delegations.set(
        address,
        target === null
          ? readDelegation(kind, words.get(address), answers.get(address))
          : { kind: PROXY_QUESTIONS[kind].kind, targets: [{ address: target }] },
      )
    return delegations
  }

  return async (addresses, offering, signal) => {
    const codes = await codesOf(addresses, signal)
    const delegations = await delegationsOf(codes, signal)
    const met = [...delegations.values()].flatMap(it => (it?.kind === 'beacon' ? it.targets : []))
    const beacons = [...new Set([...offering, ...met.map(({ address }) => address)])]
    const others = await codesOf(
      beacons.filter(beacon => !addresses.includes(beacon)),
      signal,
    )
    const offers = await answersTo(
      beacons.map(to => ({ to, data: IMPLEMENTATION_CALL })),
      signal,
    )
    for (const [beacon, answer] of offers) {
      const address = readAddressWord(answer)
      delegations.set(beacon, { kind: 'offer', targets: address === null ? [] : [{ address }] })
    }
    return new Map(
      [...codes, ...others].map(({ address, code }) => [
        address,
        { codeHash: code?.hash ?? null, delegation: delegations.get(address) ?? null },
      ]),
    )
  }
}
