import { isRecord } from '../../lib/record.ts'
import { type AbiFormat, fault, shown } from './format.ts'
import { readEntries } from './json-abi.ts'

/** What Foundry (`out/`) and Hardhat (`artifacts/`) write for each contract, and whatever else has the ABI under `abi`. */
export const artifact: AbiFormat = {
  is: ({ json }) => isRecord(json) && 'abi' in json,
  read({ json }, place) {
    const { abi } = json as { abi: unknown }
    if (!Array.isArray(abi)) throw fault(place, 'abi', `is ${shown(abi)}, not an array of entries`)
    return readEntries(abi, place, 'abi')
  },
}
