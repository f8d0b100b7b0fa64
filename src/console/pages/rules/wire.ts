import type {
  Alert,
  Attempt,
  Delivery as DeliveryAnswer,
  TestPreview as PreviewOfRule,
  RuleAnswer,
  Simulation as SimulationAnswer,
} from '../../../http/shapes/rules.ts'
import type { JsonObject } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'

/** What the routes below `/alerting` answer, as far as these pages read it. */
export type { Alert, AlertSeries, Attempt, SeriesOfRule, TestResult } from '../../../http/shapes/rules.ts'

export type Rule = RuleAnswer &
  JsonObject & { technology: string; blockchain: string; network: string; config: JsonObject }

export type AlertState = Alert['state']
export type Delivery = DeliveryAnswer & { attempts?: Attempt[] }

export type Simulation = Omit<SimulationAnswer, 'hits'> & { hits: Hit[] }
export type PreviewedMessage = Omit<PreviewOfRule['messages'][number], 'body'> & { body?: JsonObject | null }
export type PreviewAnswer = Omit<PreviewOfRule, 'messages'> & { messages: PreviewedMessage[] }

/** What is wrong with a rule, at its place. */
export interface RuleFault {
  path: string
  message: string
}

export const networkOf = ({ technology, blockchain, network }: JsonObject): string =>
  `${technology}/${blockchain}/${network}`
