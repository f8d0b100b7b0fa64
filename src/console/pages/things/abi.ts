/** The answer of `GET …/abi/{address}`. */
export interface KnownAbi {
  source: string | null
  name: string | null
  probability: number | null
  implementations: { address: string; codeHash: string | null; through: string }[]
  abis: {
    id: string
    name: string | null
    source: string
    of: string | null
    events: number
    functions: number
    errors: number
  }[]
}
