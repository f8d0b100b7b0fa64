import type { Act, Actor } from '../../accounts/audit.ts'
import type { TokenInfo } from '../../accounts/index.ts'
import type {
  AbiAnswer,
  AbiOfAddress,
  RatesAnswer,
  RedecodingAnswer,
  ServedNetwork,
  StorageAnswer,
  WholeAbiAnswer,
} from '../shapes/management.ts'

/** Management of a server. */
export interface Management {
  token(id: number): TokenInfo | undefined
  /** Writes to the audit trail. */
  note(by: Actor, act: Act): void
  /** What this server has. */
  networks(): ServedNetwork[]
  abis: AbiShelf
  redecodings: RedecodingService
  /** What decodes the logs and calls of a contract. */
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
  /** Its name in errors. */
  place: string
  name: string | undefined
  network: string | null
  address: string | null
  codeHash: string | null
}

export interface AbiShelf {
  list(filter: AbiFilter): Promise<AbiAnswer[]>
  info(id: string): Promise<AbiAnswer | undefined>
  /** With its declarations. */
  get(id: string): Promise<WholeAbiAnswer | undefined>
  /** Keeps all of them, or none where one is bad. */
  add(abis: readonly NewAbi[]): Promise<AbiAnswer[]>
  /** False where there was none. */
  remove(id: string): boolean
}

export interface RedecodingService {
  list(): Promise<RedecodingAnswer[]>
  /** On these networks, or on all that are stored and that an ABI is for. Refuses an id that there is no ABI of. */
  start(abis: readonly string[], networks: readonly string[] | undefined): Promise<RedecodingAnswer[]>
  /** Undefined where there is none. */
  stop(id: string): Promise<RedecodingAnswer | undefined>
}
