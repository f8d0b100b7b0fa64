import {
  alertSeries,
  getDelivery,
  listAlerts,
  listDeliveries,
  listDestinations,
  redeliver,
  redeliverMany,
} from './deliveries.ts'
import { createRule, createRules, getRule, listRules, removeRule, updateRule } from './rules.ts'
import { previewTest, simulate, simulateRule, testRule } from './simulate.ts'

/** Every route below `/alerting`. What has a name comes before what any name stands for. */
export const RULE_ROUTES = [
  ...[listRules, createRule, createRules, simulate, previewTest],
  ...[getRule, updateRule, removeRule, simulateRule, testRule, listAlerts, redeliver],
  ...[alertSeries, listDeliveries, redeliverMany, getDelivery, listDestinations],
]
