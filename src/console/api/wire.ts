import type { AbiOfAddress, AccountAnswer, WholeAbiAnswer } from '../../http/shapes/management.ts'
import type {
  Alert,
  AttemptAnswer,
  DeliveryAnswer,
  DestinationsAnswer,
  RuleAnswer,
  SilenceAnswer,
  SimulationAnswer,
  TestPreviewAnswer,
  WatchListAnswer,
} from '../../http/shapes/rules.ts'
import type { NetworkStatus } from '../../http/shapes/server.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Json, JsonObject } from './json.ts'

/** API answers as far as the console reads them. */
export type { GasPriceAnswer } from '../../http/shapes/answers.ts'
export type {
  AbiAnswer,
  RateSample,
  RatesAnswer,
  RedecodingAnswer,
  StorageAnswer,
} from '../../http/shapes/management.ts'
export type {
  Alert,
  AlertSeries,
  AttemptAnswer,
  DestinationsAnswer,
  SeriesOfRule,
  TestResultAnswer,
} from '../../http/shapes/rules.ts'
export type { NetworkStatus, Status } from '../../http/shapes/server.ts'
export type { Kind } from '../../mapping/index.ts'

export interface SearchHit {
  _index: string
  _type: string
  _id: string
  _source: JsonObject
  sort?: Json[]
}

export interface SearchAnswer {
  took: number
  hits: { total: number; hits: SearchHit[] }
  aggregations?: JsonObject
}

/** In display order. */
const OFFERED: Record<Kind, true> = {
  ...{ block: true, tx: true, event: true, log: true },
  ...{ call: true, trace: true, contract: true, token: true },
}
export const OFFERED_KINDS = Object.keys(OFFERED) as readonly Kind[]

export const TOKEN_SCOPES = ['search', 'rules', 'admin'] as const
export type GrantedScope = (typeof TOKEN_SCOPES)[number]
export type SignedInAccount = AccountAnswer

export type WholeAbi = Omit<WholeAbiAnswer, 'abi'> & { abi: JsonObject[] }
export type KnownAbi = AbiOfAddress

export type Rule = RuleAnswer &
  JsonObject & { technology: string; blockchain: string; network: string; config: JsonObject }
export type ListedAlertState = Alert['state']
export type Delivery = DeliveryAnswer & { attempts?: AttemptAnswer[] }
export type Destination = DestinationsAnswer['destinations'][number]
export type Simulation = Omit<SimulationAnswer, 'hits'> & { hits: SearchHit[] }
export type PreviewedMessage = Omit<TestPreviewAnswer['messages'][number], 'body'> & { body?: JsonObject | null }
export type PreviewAnswer = Omit<TestPreviewAnswer, 'messages'> & { messages: PreviewedMessage[] }

export type Silence = SilenceAnswer
export interface SilenceList {
  silences: SilenceAnswer[]
}
export type WatchList = WatchListAnswer
export interface WatchLists {
  lists: WatchListAnswer[]
}
export interface WatchListValues {
  values: string[]
  next: string | null
}
export interface WatchListChange {
  count: number
  size: number
}

export type ScopeCoverage = (NetworkStatus['coverage'] & {})[number]
export type ScopeFilling = NetworkStatus['filling'] & {}
/** Log filter; long lists are cut. */
export type Filter = Omit<ScopeCoverage, 'ranges'>
export type ListedEndpoint = NetworkStatus['endpoints'][number]
export type EndpointBudget = ListedEndpoint['budget'] & {}
export type BudgetPeriod = EndpointBudget['day'] & {}
