import { Logger } from '@nestjs/common';
import {
  eventLevel,
  type ServiceAuthEvent,
  type ServiceAuthEventFields,
  type ServiceAuthEventListener,
} from '@service-auth/core';

const iso = (at: number): string => new Date(at).toISOString();

/**
 * Logs the events of a client with Nest's logger, one line per event. A day without failures has
 * one or two lines of level `log`.
 */
export function eventLog(context: string): ServiceAuthEventListener {
  const logger = new Logger(context);
  return (event) => {
    const level = eventLevel(event);
    logger[level === 'info' ? 'log' : level](messageOf(event));
  };
}

/** Returns the message for an event. Events contain no secrets, so the messages contain none. */
function messageOf(event: ServiceAuthEvent): string {
  switch (event.type) {
    case 'token_issued': {
      const remark = event.warnings.length > 0 ? ` Warnings: ${event.warnings.join(', ')}.` : '';
      const spent = `${event.used} of ${event.usable} tokens of this window are spent`;
      return `Token ${event.tokenId} issued (${event.reason}), valid until ${iso(event.expiresAt)}; ${spent}.${remark}`;
    }
    case 'token_adopted':
      return `Token ${event.tokenId} of another process in use, valid until ${iso(event.expiresAt)}.`;
    case 'token_request_failed': {
      const status = event.status === undefined ? '' : `, status ${event.status}`;
      const error = event.error === undefined ? '' : `, ${event.error}`;
      const retry = event.retryAt === undefined ? '' : ` Next attempt after ${iso(event.retryAt)}.`;
      const counted = event.ambiguous ? ' It counts: a token may have been issued.' : '';
      return `Token request failed: ${event.code}${status}${error}.${counted}${retry}`;
    }
    case 'token_reset': {
      const reason = event.reason === undefined ? '' : ` (${JSON.stringify(event.reason)})`;
      return `Token ${event.tokenId ?? 'none'} was reset${reason}.`;
    }
    case 'token_rejected':
      return `The API rejected token ${event.tokenId} (${event.outcome}).`;
    case 'token_bypassed':
      return 'A request had an Authorization of its own, so it was sent without the token.';
    case 'issuance_refused': {
      const { reason, retryAt, count } = event;
      const times = count > 1 ? `, ${count} times` : '';
      return `No token (${reason}${times}): ${whyRefused(event)}. The next one after ${iso(retryAt)}.`;
    }
    case 'issuance_over_limit': {
      const times = event.count > 1 ? `, ${event.count} times` : '';
      return `The limit is not enforced. It would have refused a token (${event.reason}${times}): ${whyRefused(event)}.`;
    }
    case 'token_unavailable': {
      const retry = event.retryAt === undefined ? '' : ` Next attempt after ${iso(event.retryAt)}.`;
      const { code, waitsFor, process } = event;
      const why = waitsFor === undefined ? code : `${code}: ${waitsFor}${process === undefined ? '' : ` ${process}`}`;
      return `No token for ${event.count} ${event.count === 1 ? 'call' : 'calls'} (${why}).${retry}`;
    }
    case 'client_secret_failed':
      return `The function for the client secret failed: ${event.error}.`;
    case 'store_failed':
      return `The store failed (${event.operation}): ${event.error}${event.advice ? `; ${event.advice}` : '.'}`;
    case 'store_recovered':
      return 'The store answers again.';
    case 'store_damaged':
      return `The record ${event.key} is damaged. No token is requested until it is repaired.`;
    case 'store_warning':
      return event.warning;
    case 'ledger_lost':
      return `The store lost its record; ${event.restored} entries were put back from memory.`;
    case 'clock_anomaly':
      return `The clock of the ${event.clock} moved by ${event.byMs} ms.`;
    case 'agreement_differs': {
      const names = [...new Set(event.others.map(({ instance }) => JSON.stringify(instance)))].join(', ');
      return `Other processes state another issuanceLimit (last: ${names}). The strictest one holds. Give all of them the same.`;
    }
    case 'quota_observed':
      return quotaMessage(event);
    default:
      return event.type satisfies 'store_called' | 'acquisition_started' | 'acquisition_ended';
  }
}

/**
 * Says why the budget did not allow a token. The reason comes before the numbers, because the
 * allowance of a new record would look like spent tokens.
 */
function whyRefused({ newRecord, limit, used, usable }: ServiceAuthEventFields['issuance_refused']): string {
  if (newRecord)
    return `the record is new, so until ${iso(newRecord.until)} only ${newRecord.allowed} of ${limit} tokens may be issued`;
  const kept = used < usable ? 'the rest is kept for more urgent purposes: ' : '';
  return `${kept}${used} of ${usable} usable tokens are spent (limit ${limit})`;
}

const owners: Readonly<Record<ServiceAuthEventFields['quota_observed']['of'], string>> = {
  client: 'this client',
  organization: 'the organization',
};

function quotaMessage({ of, tokens, remaining, resetAt, foreign }: ServiceAuthEventFields['quota_observed']): string {
  const unknown = foreign ? ` It counts ${foreign} that are not in the record.` : '';
  return `The provider has ${remaining} of ${tokens} tokens left for ${owners[of]} until ${iso(resetAt)}.${unknown}`;
}
