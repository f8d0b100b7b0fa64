import { isRecord } from '../../lib/arrays.ts'
import { checkBoolean, checkOptional, checkString, type InputPlace } from '../input.ts'
import { covers, isWide } from '../rule.ts'

const NETWORK_PATH = /^[^/*,]+\/[^/*,]+\/[^/*,]+$/

/** Checks `across`, and the networks of steps. `network`: the pattern of the rule; undefined if it has faults. */
export const checkAcross = (when: InputPlace, steps: readonly InputPlace[], network: string | undefined): void => {
  const across = when.member('across')
  checkOptional(across, checkBoolean)
  const named = steps.map(it => it.member('network')).filter(({ value }) => value !== undefined)
  const [first] = across.value === true ? [across] : named
  if (first === undefined) return
  const isOfSeveral = network === undefined || isWide(network)
  if (!isOfSeveral)
    first.fault(
      `${first.label} goes with rules of several networks: leave it out, or write "*" or a list of names in technology, blockchain or network.`,
    )
  for (const it of named) {
    const path = checkString(it)
    if (path === undefined) continue
    if (!NETWORK_PATH.test(path))
      it.fault(`${it.label} must be the path of one network, such as "ethereum/base/mainnet".`)
    else if (network !== undefined && isOfSeveral && !covers(network, path))
      it.fault(`${it.label} is no network of the rule, which is of ${network}: write one that it covers.`)
  }
  for (const name of ['within', 'hold']) {
    const span = when.member(name)
    if (isRecord(span.value) && span.value.blocks !== undefined)
      span.fault(`Networks have no block numbers in common: write seconds in ${span.label}.`)
  }
}
