import {
  alertSeriesRoute,
  alertsRoute,
  deliveriesRoute,
  deliveryRoute,
  destinationsRoute,
  redeliverRoute,
  redeliverRuleRoute,
} from './deliveries.ts'
import {
  addToListRoute,
  listRoute,
  listsRoute,
  listValuesRoute,
  putListRoute,
  removeFromListRoute,
  removeListRoute,
} from './lists.ts'
import {
  createRuleRoute,
  createRulesRoute,
  removeRuleRoute,
  ruleRouteOfId,
  rulesRoute,
  updateRuleRoute,
} from './rules.ts'
import { changeSilenceRoute, createSilenceRoute, removeSilenceRoute, silencesRoute } from './silences.ts'
import { previewTestRoute, simulateRoute, simulateRuleRoute, testRuleRoute } from './simulate.ts'

/** Every route below `/alerting`. What has a name comes before what any name stands for. */
export const RULE_ROUTES = [
  ...[rulesRoute, createRuleRoute, createRulesRoute, simulateRoute, previewTestRoute],
  ...[
    ruleRouteOfId,
    updateRuleRoute,
    removeRuleRoute,
    simulateRuleRoute,
    testRuleRoute,
    alertsRoute,
    redeliverRuleRoute,
  ],
  ...[listsRoute, listRoute, putListRoute, addToListRoute, removeFromListRoute, listValuesRoute, removeListRoute],
  ...[silencesRoute, createSilenceRoute, changeSilenceRoute, removeSilenceRoute],
  ...[alertSeriesRoute, deliveriesRoute, redeliverRoute, deliveryRoute, destinationsRoute],
]
