import * as count from './count.ts';
import * as errors from './errors.ts';
import * as limit from './limit.ts';
import * as outage from './outage.ts';
import type { Promised } from './promised.ts';
import * as quota from './quota.ts';
import { whatIsSaidToBeAvailableCanBeHad } from './said.ts';
import * as service from './service.ts';
import * as thrift from './thrift.ts';
import * as token from './token.ts';

/** The promises of docs/reliability.md, by their numbers there, and for each of them what must be true. */
export const promises: Readonly<Record<string, readonly Promised[]>> = {
  '1. The limit': [limit.theLimitIsKept, limit.refusedRequestsAreInTheLimit],
  '2. The count': [
    count.theCountCoversEveryToken,
    quota.theProviderIsQuotedAsItSpoke,
    quota.noTokenOfTheFleetIsForeign,
    quota.foreignTokensAreNoticed,
  ],
  '3. The token': [
    token.everyTokenIsOneOfTheService,
    token.anIdNamesOneToken,
    token.everyAudienceHasItsOwnToken,
    token.everyServedTokenHasLifeLeft,
    token.aResetTokenIsNotUsedInItsProcess,
    token.aResetTokenIsNotUsedInTheFleet,
    token.peekTokenTellsWhatGetTokenReturns,
  ],
  '4. Service': [
    service.aGoodTokenIsServed,
    service.noCallerWithAGoodTokenWaits,
    service.everybodyIsServedInTheEnd,
    service.onlyAnAgreementOfTheFleetRefusesACaller,
    service.noPauseOutlivesItsClock,
    service.aRevokedTokenIsReplaced,
    service.oneAudienceDoesNotStarveTheOthers,
    service.aHealthyFleetDeniesNoCall,
    service.aLoopThatStoodStillIsNoFailure,
    service.aRunningProcessDoesNotCountAsDead,
    outage.aQuarterOfTheBudgetIsLeft,
    outage.theFleetBacksOffTogether,
    outage.aFleetThatFailsAsksRarely,
    outage.aLateRequestIsNotSent,
    outage.retryAfterIsFollowed,
    outage.deathsArePaced,
    outage.aTokenEndsTheRowOfDeaths,
    whatIsSaidToBeAvailableCanBeHad,
  ],
  '5. Thrift': [
    thrift.nothingIsSentButTokenRequests,
    thrift.oneProcessAsksForAll,
    thrift.aHealthyFleetNeedsFewTokens,
    thrift.oneAlarmCostsOneToken,
    count.whatWasNotIssuedCostsNothing,
    count.everyPurposeKeepsToItsShare,
    count.renewalsCausedBy401sAreFew,
  ],
  '6. Errors': [
    errors.everyErrorIsTyped,
    errors.everyCallEnds,
    errors.anAbortedCallerDoesNotWait,
    errors.noRejectionGoesUnhandled,
    errors.noProcessIsBusyWithoutEnd,
    errors.nothingPublishedContainsASecret,
    errors.noTextOfAnAnswerIsStored,
    errors.theRecordCanBeRead,
    errors.noRecordOutgrowsItsStore,
    errors.aStoreThatKeepsNothingIsGivenUp,
  ],
};

/** The promise in words: those of the function's name. */
export function wordsOf({ name }: Promised): string {
  return name.replaceAll(/(?<=.)(?=[A-Z])|(?<=[a-z])(?=\d)/g, ' ').toLowerCase();
}
