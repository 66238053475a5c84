<?php
// PHP without a library.
$form = ['grant_type' => 'client_credentials', 'client_id' => getenv('CLIENT_ID'), 'client_secret' => getenv('CLIENT_SECRET')];
$request = ['method' => 'POST', 'header' => 'Content-Type: application/x-www-form-urlencoded', 'content' => http_build_query($form)];
$token = json_decode(file_get_contents(getenv('TOKEN_URL'), false, stream_context_create(['http' => $request])));

$request = ['header' => "Authorization: Bearer {$token->access_token}"];
echo file_get_contents(getenv('API_URL'), false, stream_context_create(['http' => $request])), "\n";
